/** What the first screen shows of connecting a provider; the form has its own texts, which load with it. */
import type { Strings } from '../text/language.js';

interface ConnectText {
  connect: string;
  onlyDemo: string;
  onlyDemoText: string;
}

export const strings: Strings<ConnectText> = {
  en: {
    connect: 'Connect a model',
    onlyDemo: 'Only the built-in demo model is connected.',
    onlyDemoText: 'Use a provider’s key, or a model server on this machine.',
  },
  zh: {
    connect: '连接模型',
    onlyDemo: '目前只连接了内置的演示模型。',
    onlyDemoText: '可以使用服务商的密钥，或本机上的模型服务。',
  },
};
