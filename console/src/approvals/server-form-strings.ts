export const serverFormStrings = {
  en: {
    from: (server: string) => `The MCP server “${server}” is asking. It will receive your answer.`,
    page: (host: string) => `It sends you to ${host}. Open the address yourself if you trust it.`,
    optional: '(optional)',
    yes: 'Yes',
    send: 'Send',
    done: 'Done there',
    decline: 'Decline',
  },
  zh: {
    from: (server: string) => `MCP 服务器“${server}”向您提问，并会收到您的回答。`,
    page: (host: string) => `它请您前往 ${host}。若信任该地址，请自行打开。`,
    optional: '（可选）',
    yes: '是',
    send: '发送',
    done: '已在那里完成',
    decline: '拒绝回答',
  },
};
