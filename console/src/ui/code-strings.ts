export const codeStrings = {
  en: { copyOf: (what: string) => `Copy: ${what}` },
  zh: { copyOf: (what: string) => `复制：${what}` },
};
