export const waitingStrings = {
  en: {
    asks: (title: string) => `Waiting for your decision: ${title}`,
    ask: (count: number) => `${count} calls are waiting for your decision.`,
  },
  zh: {
    asks: (title: string) => `等待您决定：${title}`,
    ask: (count: number) => `有 ${count} 个调用等待您决定。`,
  },
};
