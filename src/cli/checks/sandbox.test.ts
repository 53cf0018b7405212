import { describe, expect, it } from 'vitest';
import { checkSandbox } from '../doctor.js';

describe('checkSandbox', () => {
  it('says what is active', async () => {
    expect(await checkSandbox('auto', process.env)).toMatchObject({
      status: 'ok',
      subject: 'sandbox',
      finding: expect.stringContaining('bubblewrap'),
    });
  });

  it('warns where commands run without one, and says how to get it', async () => {
    expect(await checkSandbox('auto', { PATH: '/nowhere' })).toMatchObject({
      status: 'warn',
      finding: expect.stringContaining('bubblewrap (bwrap) is not installed'),
      advice: expect.stringContaining('apt-get install bubblewrap socat'),
    });
  });

  it('fails where one is required and there is none', async () => {
    expect(await checkSandbox('required', { PATH: '/nowhere' })).toMatchObject({ status: 'FAIL' });
  });

  it('warns where it is switched off', async () => {
    expect(await checkSandbox('off', process.env)).toMatchObject({
      status: 'warn',
      finding: expect.stringContaining('off'),
    });
  });
});
