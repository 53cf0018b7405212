import { expect, it } from 'vitest';
import { allowedHosts } from './allowed-hosts.js';

const rules = (allow: string[], deny: string[] = [], ask: string[] = []) => ({ allow, ask, deny });

it.each([
  ['nothing without a rule for a domain', rules(['Read', 'WebFetch', 'Bash(curl:*)']), []],
  [
    'a domain and what is below it',
    rules(['WebFetch(domain:Example.com)']),
    ['example.com', '*.example.com'],
  ],
  ['nothing of a domain that is denied', rules(['WebFetch(domain:a.com)'], ['WebFetch(domain:a.com)']), []],
  [
    'nothing above a name that is denied',
    rules(['WebFetch(domain:a.com)'], ['WebFetch(domain:x.a.com)']),
    [],
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
  ['nothing where WebFetch as a whole is denied', rules(['WebFetch(domain:a.com)'], ['WebFetch']), []],
])('opens %s', (_what, permissions, hosts) => {
  expect(allowedHosts(permissions)).toEqual(hosts);
});
