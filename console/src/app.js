/** The placeholder console: signs in with the token of the address, then shows how to use the gateway. */

const STRINGS = {
  en: {
    checking: 'Asking the gateway…',
    running: 'The gateway is running.',
    signedOut: 'You are not signed in.',
    signedOutHint:
      'Open the console address that the gateway printed when it started, or sign in with one of its keys.',
    badToken: 'This token or key is not valid.',
    keyLabel: 'Token or key',
    signIn: 'Sign in',
    unreachable: 'The gateway does not answer.',
    unreachableHint: 'Start it with “npm start” and reload this page.',
    models: 'Connected models',
    noModels: 'No model is listed by name. What the configuration routes by pattern still works.',
    use: 'Use it',
    useNote: 'While the gateway has no keys of its own it takes any key; otherwise use one of yours.',
    copy: 'Copy',
    copied: 'Copied',
    copyOf: (title) => `Copy the ${title} example`,
    codeOf: (title) => `${title} example`,
  },
  zh: {
    checking: '正在连接网关…',
    running: '网关正在运行。',
    signedOut: '您尚未登录。',
    signedOutHint: '请打开网关启动时打印的控制台地址，或使用网关的密钥登录。',
    badToken: '令牌或密钥无效。',
    keyLabel: '令牌或密钥',
    signIn: '登录',
    unreachable: '网关没有响应。',
    unreachableHint: '请运行 “npm start” 启动网关，然后刷新本页。',
    models: '已连接的模型',
    noModels: '没有按名称列出的模型；配置中按通配符路由的模型仍然可用。',
    use: '如何使用',
    useNote: '网关未配置密钥时接受任意密钥；否则请使用您自己的密钥。',
    copy: '复制',
    copied: '已复制',
    copyOf: (title) => `复制 ${title} 示例`,
    codeOf: (title) => `${title} 示例`,
  },
};

const language = (navigator.languages?.[0] ?? navigator.language ?? 'en').toLowerCase().startsWith('zh')
  ? 'zh'
  : 'en';
const text = STRINGS[language];

const find = (id) => document.getElementById(id);

function make(tag, className, content) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (content !== undefined) element.textContent = content;
  return element;
}

/** Only who is signed in sees more than the status; whoever is refused is offered to sign in. */
function showStatus(state, message, hint) {
  find('status').dataset.state = state;
  find('status-text').textContent = message;
  find('hint').hidden = hint === undefined;
  find('hint').textContent = hint ?? '';
  find('sign-in').hidden = state !== 'refused';
  find('models').hidden = state !== 'running';
  find('use').hidden = state !== 'running';
}

/** The token is taken out of the address at once, so that it stays neither on screen nor in the history. */
function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token !== null) history.replaceState(null, '', location.pathname + location.search);
  return token;
}

/** Resolves to `in`, `out` or `bad-token`; rejects when the gateway cannot be reached. */
async function signIn(token) {
  if (token === null) {
    const session = await fetch('/api/session');
    return session.ok ? 'in' : 'out';
  }
  const answer = await fetch('/api/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  return answer.ok ? 'in' : 'bad-token';
}

/** The names this sign-in may see; none where it may not list models. */
async function listModels() {
  const answer = await fetch('/v1/models');
  if (!answer.ok) return [];
  const { data } = await answer.json();
  return data.map((model) => model.id);
}

function snippetsFor(model) {
  const base = location.origin;
  const quoted = JSON.stringify(model);
  return [
    {
      title: 'curl',
      code: `curl ${base}/v1/chat/completions \\
  -H 'content-type: application/json' \\
  -d '{
    "model": ${quoted.replaceAll("'", "'\\''")},
    "messages": [
      {"role": "user", "content": "Hello!"}
    ]
  }'`,
    },
    {
      title: 'Claude Code',
      code: `ANTHROPIC_BASE_URL=${base} \\
ANTHROPIC_AUTH_TOKEN=local \\
claude`,
    },
    {
      title: 'Anthropic SDK',
      code: `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({
  baseURL: '${base}',
  apiKey: 'local',
});
const message = await client.messages.create({
  model: ${quoted},
  max_tokens: 1024,
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(message.content);`,
    },
    {
      title: 'OpenAI SDK',
      code: `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${base}/v1',
  apiKey: 'local',
});
const answer = await client.chat.completions.create({
  model: ${quoted},
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.choices[0].message);`,
    },
  ];
}

async function copy(code, pre, button) {
  try {
    await navigator.clipboard.writeText(code);
  } catch {
    // No clipboard without a secure context: leave the text selected instead.
    getSelection().selectAllChildren(pre);
    return;
  }
  button.textContent = text.copied;
  find('announce').textContent = text.copied;
  setTimeout(() => {
    button.textContent = text.copy;
    find('announce').textContent = '';
  }, 2000);
}

function renderSnippet({ title, code }) {
  const card = make('article', 'snippet');
  const head = make('div', 'snippet-head');
  const button = make('button', '', text.copy);
  const pre = make('pre');
  button.type = 'button';
  button.setAttribute('aria-label', text.copyOf(title));
  // A region that scrolls must be reachable by keyboard.
  pre.tabIndex = 0;
  pre.setAttribute('role', 'region');
  pre.setAttribute('aria-label', text.codeOf(title));
  pre.append(make('code', '', code));
  button.addEventListener('click', () => copy(code, pre, button));
  head.append(make('h3', '', title), button);
  card.append(head, pre);
  return card;
}

function render(models) {
  find('models-note').hidden = models.length > 0;
  find('model-list').replaceChildren(...models.map((id) => make('li', '', id)));
  find('snippets').replaceChildren(...snippetsFor(models[0] ?? 'demo').map(renderSnippet));
}

function renderStrings() {
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
  find('version').textContent = document.querySelector('meta[name="toolgate-version"]').content;
  find('models-title').textContent = text.models;
  find('models-note').textContent = text.noModels;
  find('use-title').textContent = text.use;
  find('use-note').textContent = text.useNote;
  find('key-label').textContent = text.keyLabel;
  find('sign-in-button').textContent = text.signIn;
}

async function start(token) {
  showStatus('waiting', text.checking);
  try {
    const session = await signIn(token);
    if (session !== 'in') {
      showStatus('refused', session === 'out' ? text.signedOut : text.badToken, text.signedOutHint);
      return;
    }
    render(await listModels());
    showStatus('running', text.running);
  } catch {
    showStatus('failed', text.unreachable, text.unreachableHint);
  }
}

renderStrings();
find('sign-in').addEventListener('submit', (event) => {
  event.preventDefault();
  const field = find('key');
  const token = field.value.trim();
  field.value = '';
  if (token !== '') start(token);
});
// The address of a gateway that was started again, pasted into a tab that is open.
addEventListener('hashchange', () => {
  const token = takeToken();
  if (token !== null) start(token);
});
await start(takeToken());
