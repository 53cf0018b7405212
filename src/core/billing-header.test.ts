import { describe, expect, it } from 'vitest';
import { withoutBillingHeader } from './billing-header.js';

const LINE = 'x-anthropic-billing-header: cc_version=2.1.325.abc; cc_entrypoint=cli; cch=1f2e3;';

describe('withoutBillingHeader', () => {
  it('takes out the line and nothing else', () => {
    expect(withoutBillingHeader(LINE)).toBe('');
    expect(withoutBillingHeader(`${LINE}\nYou are a helper.`)).toBe('You are a helper.');
    expect(withoutBillingHeader('You are a helper.')).toBe('You are a helper.');
    expect(withoutBillingHeader(`About ${LINE}`)).toBe(`About ${LINE}`);
  });
});
