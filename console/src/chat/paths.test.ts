import { describe, expect, it } from 'vitest';
import { crumbsOf, lastName } from './paths.js';

describe('paths', () => {
  it('lead through their folders', () => {
    expect(crumbsOf('/home/ann/shop')).toEqual([
      { name: '/', path: '/' },
      { name: 'home', path: '/home' },
      { name: 'ann', path: '/home/ann' },
      { name: 'shop', path: '/home/ann/shop' },
    ]);
    expect(crumbsOf('C:\\Users\\ann').map(({ path }) => path)).toEqual([
      'C:\\',
      'C:\\Users',
      'C:\\Users\\ann',
    ]);
    expect(crumbsOf('/')).toEqual([{ name: '/', path: '/' }]);
  });

  it('are called by their last folder', () => {
    expect(lastName('/home/ann/shop/')).toBe('shop');
    expect(lastName('C:\\Users\\ann')).toBe('ann');
    expect(lastName('/')).toBe('/');
  });
});
