import type { UpstreamWire } from '../../../../src/server/console-api/wire/upstreams.js';
import type { Strings } from '../../text/language.js';

const en = {
  title: 'Model providers',
  intro:
    'Who answers your requests. What you connect here works at once and is kept beside toolgate.yaml; where the two disagree, the file wins.',
  list: 'Model providers',
  failed: 'The list could not be loaded',
  tryAgain: 'Try again',
  sources: {
    configuration: 'in toolgate.yaml',
    environment: 'from the environment',
    store: 'connected here',
  } satisfies Record<UpstreamWire['source'], string>,
  states: { active: 'Connected', replaced: 'Replaced', unusable: 'Cannot be used' } satisfies Record<
    UpstreamWire['state'],
    string
  >,
  replacedText: 'toolgate.yaml has one with the same name, which is used instead.',
  demo: 'built in, needs no key',
  keys: {
    none: 'no key',
    stored: 'key stored encrypted',
    environment: 'key from the environment',
    configuration: 'key in toolgate.yaml',
  } satisfies Record<UpstreamWire['key'], string>,
  keyFrom: (variable: string) => `key from ${variable}`,
  models: (count: number) => (count === 1 ? '1 model' : `${count} models`),
  agentModel: (model: string) => `agents use ${model}`,
  by: (name: string) => `by ${name}`,
  remove: 'Remove',
  removeOf: (name: string) => `Remove ${name}`,
  removeTitle: (name: string) => `Remove “${name}”?`,
  removeText: (count: number) =>
    `${count === 1 ? 'Its model stops' : `Its ${count} models stop`} answering at once, and its stored key is deleted. Answers that have begun are finished.`,
  removed: (name: string) => `“${name}” was removed.`,
  export: 'Export as YAML',
  exportTitle: 'For toolgate.yaml',
  exportText:
    'What was connected here, as the file would say it. Keys are named as environment variables, so it holds no secret.',
  exportFailed: 'It could not be exported.',
  save: 'Save as a file',
};

type UpstreamStrings = typeof en;

export const upstreamStrings: Strings<UpstreamStrings> = {
  en,
  zh: {
    title: '模型服务商',
    intro: '由谁来应答。在这里连接后立即生效，并与 toolgate.yaml 分开保存；两者冲突时以文件为准。',
    list: '模型服务商',
    failed: '列表加载失败',
    tryAgain: '重试',
    sources: { configuration: '来自 toolgate.yaml', environment: '来自环境变量', store: '在此连接' },
    states: { active: '已连接', replaced: '已被替代', unusable: '无法使用' },
    replacedText: 'toolgate.yaml 中有同名的上游服务，实际使用的是文件中的那个。',
    demo: '内置，无需密钥',
    keys: {
      none: '未设密钥',
      stored: '密钥已加密保存',
      environment: '密钥来自环境变量',
      configuration: '密钥在 toolgate.yaml 中',
    },
    keyFrom: (variable) => `密钥来自 ${variable}`,
    models: (count) => `${count} 个模型`,
    agentModel: (model) => `智能体使用 ${model}`,
    by: (name) => `由 ${name} 连接`,
    remove: '移除',
    removeOf: (name) => `移除 ${name}`,
    removeTitle: (name) => `移除“${name}”？`,
    removeText: (count) => `它的 ${count} 个模型将立即停止应答，保存的密钥会被删除。已经开始的回答会完成。`,
    removed: (name) => `“${name}”已移除。`,
    export: '导出为 YAML',
    exportTitle: '用于 toolgate.yaml',
    exportText: '在此连接的内容，按配置文件的写法列出。密钥以环境变量的名称代替，不含任何机密。',
    exportFailed: '导出失败。',
    save: '保存为文件',
  },
};
