/** What to try on the demo model, in both languages. It works by rules: each of these is something that it can do. */
export const DEMO_EXAMPLES = {
  en: {
    plain: ['What is 15% of 240?', 'What is (17 + 4) * 2?', 'What is 2 to the power of 10?'],
    agent: ['List the files in this folder', 'Run git status', 'Create a file hello.txt with the text hello'],
  },
  zh: {
    plain: ['计算 123 + 456', '计算 (17 + 4) * 2', '计算 12.5 * 640'],
    agent: ['列出这个文件夹里的文件', '运行 git status', '创建文件 hello.txt，内容为 hello'],
  },
};
