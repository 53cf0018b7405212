import { expect, it } from 'vitest';
import { allowedHosts } from './allowed-hosts.js';

const rules = (allow: string[], deny: string[] = [], ask: string[] = []) => ({ allow, ask, deny });

const domain = (text: string): string =>
  /^(?:\*|Web\*)$/.test(text) ? text : `WebFetch(domain:${text.replace('domain:', '')})`;

it.each([
  ['nothing without a rule for a domain', rules(['Read', 'WebFetch', 'Bash(curl:*)']), []],
  [
    'a domain and what is below it',
    rules(['WebFetch(domain:Example.com)']),
    ['example.com', '*.example.com'],
  ],
  ['nothing of a domain that is denied', rules(['WebFetch(domain:a.com)'], ['WebFetch(domain:a.com)']), []],
  [
    'nothing below a name of which part is denied, but the name itself',
    rules(['WebFetch(domain:a.com)'], ['WebFetch(domain:x.a.com)']),
    ['a.com'],
  ],
  ['nothing below one', rules(['WebFetch(domain:x.a.com)'], ['WebFetch(domain:a.com)']), []],
  [
    'nothing that a person is to be asked about',
    rules(['WebFetch(domain:a.com)'], [], ['WebFetch(domain:a.com)']),
    [],
  ],
  [
    'others all the same',
    rules(['WebFetch(domain:a.com)', 'WebFetch(domain:ba.com)'], ['WebFetch(domain:a.com)']),
    ['ba.com', '*.ba.com'],
  ],
  ['what is below a domain, and not itself', rules(['WebFetch(domain:*.a.com)']), ['*.a.com']],
  [
    'the name alone where what is below it is denied',
    rules(['WebFetch(domain:a.com)'], ['WebFetch(domain:*.a.com)']),
    ['a.com'],
  ],
  [
    'nothing of what is below a domain that is asked about',
    rules(['WebFetch(domain:*.a.com)', 'WebFetch(domain:*.x.a.com)'], [], ['WebFetch(domain:a.com)']),
    [],
  ],
  [
    'nothing for a wildcard without a domain',
    rules(['*', 'Web*', 'domain:*', '*.*', '**', '*a.com', 'a.*', 'a.*.com'].map(domain)),
    [],
  ],
  ['an address alone', rules(['WebFetch(domain:10.0.0.1)', 'WebFetch(domain:[::1])']), ['10.0.0.1', '[::1]']],
  [
    'the port that a rule names',
    rules(['WebFetch(domain:localhost:3000)', 'WebFetch(domain:[::1]:80)']),
    ['localhost:3000', '*.localhost:3000', '[::1]:80'],
  ],
  [
    'nothing where a rule that denies cannot be read',
    rules(['WebFetch(domain:a.com)'], ['WebFetch(domain:*b.com)']),
    [],
  ],
  ['nothing where every tool of such a name is denied', rules(['WebFetch(domain:a.com)'], ['Web*']), []],
  ['nothing where WebFetch as a whole is denied', rules(['WebFetch(domain:a.com)'], ['WebFetch']), []],
])('opens %s', (_what, permissions, hosts) => {
  expect(allowedHosts(permissions)).toEqual(hosts);
});
