import type { ClientName } from './snippets.js';

interface SetupText {
  title: string;
  intro: string;
  steps: {
    title: string;
    done: string;
    open: string;
    model: string;
    modelHint: string;
    modelHintAdmin: string;
    chat: string;
    chatLink: string;
    client: string;
    clientHint: string;
    notify: string;
    notifyHint: string;
  };
  connected: {
    title: string;
    failed: string;
    retry: string;
    version: string;
    since: string;
    address: string;
    models: string;
    modelsMore: (count: number) => string;
    noModels: string;
    upstreams: string;
    demo: string;
    noCredential: string;
    tools: string;
    toolCount: (on: number, off: number) => string;
    mcp: string;
    noMcp: string;
    store: string;
    sandbox: string;
    sandboxOn: string;
    sandboxOff: string;
    approvals: string;
    timeout: (duration: string) => string;
    upstreamStates: Record<'ok' | 'failing' | 'unknown', string>;
    /** As /api/mcp names them. */
    mcpStates: Readonly<Record<string, string>>;
    manage: string;
  };
  clients: {
    title: string;
    intro: string;
    model: string;
    modelHint: string;
    anyKey: string;
    needsKey: (variable: string) => string;
    tabs: string;
    names: Record<ClientName, string>;
    notes: Record<ClientName, string>;
    mcpToken: (variable: string) => string;
    mcpKey: (variable: string) => string;
    example: (title: string) => string;
  };
}

const en: SetupText = {
  title: 'Setup',
  intro: 'What is connected to this gateway, and what to paste into clients so that they use it.',
  steps: {
    title: 'First steps',
    done: 'Done',
    open: 'To do',
    model: 'Connect a model',
    modelHint:
      'Only the built-in demo model is available. Ask the person who runs this gateway to connect one.',
    modelHintAdmin:
      'Only the built-in demo model is available. Connect a provider here; or set its key in the environment, such as ANTHROPIC_API_KEY, and restart the gateway.',
    chat: 'Send it a message',
    chatLink: 'Open the chat',
    client: 'Connect a client',
    clientHint: 'Claude Code, Codex, an SDK or curl: the examples are below.',
    notify: 'Get notified when an agent is waiting for you',
    notifyHint: 'Allow notifications in the settings, so that agents’ questions reach you in other tabs.',
  },
  connected: {
    title: 'What is connected',
    failed: 'The gateway’s state could not be read',
    retry: 'Try again',
    version: 'Version',
    since: 'Running since',
    address: 'Address',
    models: 'Models',
    modelsMore: (count) => `and ${count} more`,
    noModels: 'No model is listed by name; models that the configuration routes by pattern still work.',
    upstreams: 'Upstreams',
    demo: 'built in, needs no key',
    noCredential: 'no key',
    tools: 'Tools',
    toolCount: (on, off) => (off === 0 ? `${on} available` : `${on} available, ${off} off`),
    mcp: 'MCP servers',
    noMcp: 'None yet.',
    store: 'Store',
    sandbox: 'Sandbox',
    sandboxOn: 'Active',
    sandboxOff: 'Not active',
    approvals: 'Approvals',
    timeout: (duration) => `A question that nobody answers expires after ${duration}.`,
    upstreamStates: { ok: 'responding', failing: 'failing', unknown: 'not called yet' },
    mcpStates: {
      connected: 'connected',
      connecting: 'connecting',
      failed: 'failed',
      'needs-auth': 'waiting for a sign-in',
      disabled: 'off',
      closed: 'closed',
    },
    manage: 'Tools & MCP',
  },
  clients: {
    title: 'Connect a client',
    intro:
      'The examples use the address at which this browser reaches the gateway, and the model that you choose.',
    model: 'Model',
    modelHint: 'Where the configuration has a pattern, such as claude-*, any name that matches it works.',
    anyKey: 'This gateway has no keys of its own: on this machine, any word is accepted as one.',
    needsKey: (variable) =>
      `This gateway needs one of its keys. The examples read it from ${variable}: set it first.`,
    tabs: 'Clients',
    names: {
      'claude-code': 'Claude Code',
      codex: 'Codex',
      anthropic: 'Anthropic SDK',
      openai: 'OpenAI SDK',
      curl: 'curl',
      mcp: 'Approvals & tools over MCP',
    },
    notes: {
      'claude-code':
        'On the gateway’s machine, “node bin/toolgate.js code” does the same and more: it sets the context size and lists the gateway’s models.',
      codex: 'Codex speaks the Responses API. The key is read from the environment.',
      anthropic: 'Streaming, tools, images and token counting work as they do with Anthropic.',
      openai: 'Chat Completions and Responses both work; this example uses the former.',
      curl: 'The same model answers in all three dialects.',
      mcp: 'A Claude Code that runs elsewhere follows this gateway’s rules, and its questions appear in the inbox here. The second example gives it the gateway’s tools.',
    },
    mcpToken: (variable) =>
      `These need a credential even if the gateway has no keys: the token after “#token=” in the address that the gateway printed when it started. Set it as ${variable}.`,
    mcpKey: (variable) => `Set ${variable} to one of the gateway’s keys with the scope “call”.`,
    example: (title) => `${title} example`,
  },
};

const zh: SetupText = {
  title: '接入',
  intro: '查看网关已连接的内容，以及把客户端接到网关需要粘贴的配置。',
  steps: {
    title: '开始使用',
    done: '已完成',
    open: '待办',
    model: '连接模型',
    modelHint: '目前只有内置的演示模型可用。请联系网关的管理员连接模型。',
    modelHintAdmin:
      '目前只有内置的演示模型可用。可以在这里连接服务商；也可以在环境中设置密钥（如 ANTHROPIC_API_KEY）后重新启动网关。',
    chat: '和模型说句话',
    chatLink: '打开对话',
    client: '接入客户端',
    clientHint: 'Claude Code、Codex、SDK 或 curl：示例见下方。',
    notify: '智能体等您决定时收到提醒',
    notifyHint: '在设置中允许通知，这样在其他标签页也能收到智能体的提问。',
  },
  connected: {
    title: '已连接的内容',
    failed: '无法读取网关状态',
    retry: '重试',
    version: '版本',
    since: '启动时间',
    address: '地址',
    models: '模型',
    modelsMore: (count) => `另有 ${count} 个`,
    noModels: '没有按名称列出的模型；配置中按通配符路由的模型仍然可用。',
    upstreams: '上游服务',
    demo: '内置，无需密钥',
    noCredential: '未设密钥',
    tools: '工具',
    toolCount: (on, off) => (off === 0 ? `${on} 个可用` : `${on} 个可用，${off} 个已停用`),
    mcp: 'MCP 服务器',
    noMcp: '暂无。',
    store: '存储',
    sandbox: '沙箱',
    sandboxOn: '已启用',
    sandboxOff: '未启用',
    approvals: '审批',
    timeout: (duration) => `无人答复的问题在 ${duration} 后结束。`,
    upstreamStates: { ok: '有应答', failing: '出错', unknown: '尚未调用' },
    mcpStates: {
      connected: '已连接',
      connecting: '正在连接',
      failed: '失败',
      'needs-auth': '等待登录',
      disabled: '已停用',
      closed: '已关闭',
    },
    manage: '工具与 MCP',
  },
  clients: {
    title: '接入客户端',
    intro: '示例中的地址是当前浏览器访问网关所用的地址，模型由您选择。',
    model: '模型',
    modelHint: '配置中使用通配符（如 claude-*）时，任何符合的名称都可以使用。',
    anyKey: '网关没有设置密钥：在本机上可以使用任意字符串作为密钥。',
    needsKey: (variable) => `此网关需要密钥。示例从环境变量 ${variable} 读取，请先设置它。`,
    tabs: '客户端',
    names: {
      'claude-code': 'Claude Code',
      codex: 'Codex',
      anthropic: 'Anthropic SDK',
      openai: 'OpenAI SDK',
      curl: 'curl',
      mcp: '通过 MCP 审批与使用工具',
    },
    notes: {
      'claude-code':
        '在网关所在的机器上，“node bin/toolgate.js code”会自动完成这些设置，还会设置上下文长度并列出网关的模型。',
      codex: 'Codex 使用 Responses API，密钥从环境变量读取。',
      anthropic: '流式输出、工具、图片和 Token 计数的用法与 Anthropic 官方接口一致。',
      openai: 'Chat Completions 与 Responses 都可使用，这里是前者。',
      curl: '同一个模型可以用三种接口格式访问。',
      mcp: '在别处运行的 Claude Code 会遵循本网关的规则，需要人决定的问题会出现在这里的待审批页面。第二个示例让它使用网关的工具。',
    },
    mcpToken: (variable) =>
      `即使网关没有设置密钥，这里也需要凭证：网关启动时打印的地址中“#token=”后面的令牌。请将它设为 ${variable}。`,
    mcpKey: (variable) => `请将 ${variable} 设为网关的一个具有 call 权限的密钥。`,
    example: (title) => `${title} 示例`,
  },
};

export const strings = { en, zh };
