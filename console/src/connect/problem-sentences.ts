/** What the gateway says about an upstream that cannot be connected, in the language of the page. */
import type { Language } from '../text/language.js';

const ZH: readonly (readonly [sentence: RegExp, zh: string])[] = [
  [/^It refuses the key \((\d+)\)\..*$/s, '密钥被拒绝（$1）。请确认密钥完整、未被吊销，并且属于该服务商。'],
  [/^It wants a key \((\d+)\)\.$/, '该服务需要密钥（$1）。'],
  [
    /^It answered, and has no models\..*$/s,
    '服务有响应，但没有模型。请先在服务端加载模型，或自行填写模型名称。',
  ],
  [
    /^It answered (\d+) and gave no list of models\. The address of this dialect is without \/v1: leave it out\.$/,
    '服务返回了 $1，没有给出模型列表。此接口的地址不带 /v1，请去掉。',
  ],
  [
    /^It answered (\d+) and gave no list of models\. The address of this dialect usually ends with \/v1: add it\.$/,
    '服务返回了 $1，没有给出模型列表。此接口的地址通常以 /v1 结尾，请补上。',
  ],
  [
    /^It answered (\d+) and gave no list of models\..*$/s,
    '服务返回了 $1，没有给出模型列表。请检查地址；如果该服务没有模型列表，可以自行填写模型名称。',
  ],
  [/^(.*) did not answer within (\d+) s\.$/, '$1 在 $2 秒内没有响应。'],
  [/^(.*) did not answer in time\..*$/s, '$1 没有及时响应，请稍后重试。'],
  [/^Could not fetch from (.*): nothing listens there\.$/s, '无法连接 $1：该端口没有服务。'],
  [
    /^Could not fetch from (.*): the host name (?:does not exist|has no address)\..*$/s,
    '无法连接 $1：主机名不存在，请检查拼写。',
  ],
  [
    /^Could not fetch from (.*): the host name could not be looked up.*$/s,
    '无法连接 $1：暂时无法解析主机名，请稍后重试。',
  ],
  [/^Could not fetch from (.*): the connection timed out\.$/s, '无法连接 $1：连接超时。'],
  [/^Could not fetch from (.*): the connection was (?:reset|closed)\.$/s, '无法连接 $1：连接被断开。'],
  [/^Could not fetch from (.*): its certificate.*$/s, '无法连接 $1：证书无效或不受信任。'],
  [
    /^Could not fetch from (.*): it does not speak TLS.*$/s,
    '无法连接 $1：该端口不支持 TLS，请改用 http:// 再试。',
  ],
  [/^Could not fetch from (.*?): .*$/s, '无法连接 $1。'],
  [/^(.*) sent an answer that cannot be read, or broke it off\.$/, '$1 的响应无法读取，或在中途断开。'],
  [/^.*link-local.*$/s, '不能使用此地址：链路本地地址不是模型服务，云主机会在那里提供凭证。'],
  [
    /^expected an address without a user name.*$/s,
    '地址中不能包含用户名、查询参数和片段；密钥请填在密钥一栏。',
  ],
  [/^expected an http.*$/s, '请填写以 http:// 或 https:// 开头的地址。'],
  [
    /^the environment of the gateway has no (\S+)\..*$/s,
    '网关的环境中没有 $1。请设置后重新启动网关，或直接填写密钥。',
  ],
  [/^the configuration has an upstream.*$/s, '配置中已有同名的上游服务，请换一个名称。'],
  [/^there is an upstream "(.*)" already.*$/s, '已有名为“$1”的上游服务。请换一个名称，或先移除它。'],
  [/^there are (\d+) upstreams, the most there may be.*$/s, '已有 $1 个上游服务，达到上限，请先移除一些。'],
  [/^(\S+) is too short to encrypt keys with\..*$/s, '$1 太短，无法用来加密密钥。请设置至少 32 个随机字符。'],
  [
    /^Several nodes can use this database,.*? Set (\S+) .*$/s,
    '多个节点可能共用此数据库，加密的密钥必须在每个节点上都能读取。请在每个节点上将 $1 设为相同的随机字符串后重新启动，或改用环境变量。',
  ],
  [
    /^Its key cannot be decrypted here:.*? Give every node the same (\S+), .*$/s,
    '无法在此解密它的密钥：密钥是在另一个节点上或用另一个 secret.key 加密的。请让每个节点使用相同的 $1，或移除后重新连接。',
  ],
];

/** `param: sentence.` of an error, as it stands at its field. */
export function ofField(message: string, param: string | null): string {
  const bare = param !== null && message.startsWith(`${param}: `) ? message.slice(param.length + 2) : message;
  return bare.charAt(0).toUpperCase() + bare.slice(1);
}

/** A sentence that is not known stays as it is. */
export function upstreamSentence(sentence: string, language: Language): string {
  if (language === 'en') return sentence;
  const plain = sentence.charAt(0).toLowerCase() + sentence.slice(1);
  for (const [pattern, zh] of ZH) {
    for (const each of [sentence, plain]) if (pattern.test(each)) return each.replace(pattern, zh);
  }
  return sentence;
}
