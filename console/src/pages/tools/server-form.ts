/** What a person typed about a new MCP server, and the configuration that it means. */
export const TRANSPORTS = ['stdio', 'http', 'sse'] as const;
export type Transport = (typeof TRANSPORTS)[number];

interface Pair {
  /** Stable while the form is open. */
  id: number;
  name: string;
  value: string;
}

export interface ServerForm {
  name: string;
  type: Transport;
  command: string;
  /** One on each line. */
  args: string;
  env: readonly Pair[];
  url: string;
  headers: readonly Pair[];
  shared: boolean;
  timeout: string;
}

export const EMPTY_FORM: ServerForm = {
  name: '',
  type: 'stdio',
  command: '',
  args: '',
  env: [],
  url: '',
  headers: [],
  shared: true,
  timeout: '',
};

export type FormField = 'name' | 'command' | 'url' | 'env' | 'headers' | 'timeout';
export type FormProblem =
  | 'name-missing'
  | 'name-characters'
  | 'name-taken'
  | 'command-missing'
  | 'url-missing'
  | 'url-scheme'
  | 'pair-name'
  | 'pair-twice'
  | 'reference'
  | 'timeout';

/** As the configuration has it: tools are named after the server. */
const NAME = /^[A-Za-z0-9_-]+$/;

/** What the gateway would refuse, before it is asked. */
export function checkForm(
  form: ServerForm,
  taken: readonly string[],
): Partial<Record<FormField, FormProblem>> {
  const problems: Partial<Record<FormField, FormProblem>> = {};
  const name = form.name.trim();
  if (name === '') problems.name = 'name-missing';
  else if (!NAME.test(name)) problems.name = 'name-characters';
  else if (taken.includes(name)) problems.name = 'name-taken';
  if (form.type === 'stdio') {
    if (form.command.trim() === '') problems.command = 'command-missing';
    const env = checkPairs(form.env, /^[^=\0]+$/);
    if (env !== undefined) problems.env = env;
  } else {
    if (form.url.trim() === '') problems.url = 'url-missing';
    else if (!/^https?:\/\/[^/]/i.test(form.url.trim())) problems.url = 'url-scheme';
    const headers = checkPairs(form.headers, /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/);
    if (headers !== undefined) problems.headers = headers;
  }
  const timeout = form.timeout.trim();
  if (timeout !== '' && !(Number(timeout) > 0)) problems.timeout = 'timeout';
  return problems;
}

function checkPairs(pairs: readonly Pair[], pattern: RegExp): FormProblem | undefined {
  const used = pairs.filter(isUsed);
  if (used.some(({ name }) => !pattern.test(name.trim()))) return 'pair-name';
  const names = used.map(({ name }) => name.trim());
  if (new Set(names).size < names.length) return 'pair-twice';
  // The gateway does not replace it here, and the text `${TOKEN}` is no valid token.
  return used.some(({ value }) => /\$\{[A-Za-z_]\w*\}/.test(value)) ? 'reference' : undefined;
}

const isUsed = ({ name, value }: Pair): boolean => name.trim() !== '' || value !== '';

export function configOf(form: ServerForm): Record<string, unknown> {
  const timeout = form.timeout.trim();
  const common = {
    ...(form.shared ? {} : { shared: false }),
    ...(timeout === '' ? {} : { timeout_s: Number(timeout) }),
  };
  if (form.type === 'stdio') {
    return {
      type: form.type,
      command: form.command.trim(),
      args: form.args.split('\n').filter((line) => line.trim() !== ''),
      env: record(form.env),
      ...common,
    };
  }
  return { type: form.type, url: form.url.trim(), headers: record(form.headers), ...common };
}

function record(pairs: readonly Pair[]): Record<string, string> {
  return Object.fromEntries(pairs.filter(isUsed).map(({ name, value }) => [name.trim(), value]));
}

/** For toolgate.yaml, with every value of a pair as a variable: JSON is YAML. */
export function yamlOf(form: ServerForm): string {
  const config = configOf(form);
  for (const key of ['env', 'headers'] as const) {
    const pairs = config[key];
    if (typeof pairs !== 'object' || pairs === null) continue;
    config[key] = Object.fromEntries(Object.keys(pairs).map((name) => [name, `\${${variableOf(name)}}`]));
  }
  const lines = Object.entries(config).map(([key, value]) => `    ${key}: ${JSON.stringify(value)}`);
  const name = form.name.trim() === '' ? 'NAME' : form.name.trim();
  return ['mcp_servers:', `  ${name}:`, ...lines].join('\n');
}

function variableOf(name: string): string {
  const plain = name.toUpperCase().replaceAll(/[^A-Z0-9_]/g, '_');
  return /^\d/.test(plain) ? `_${plain}` : plain;
}
