export function versionPlugin(version?: string): {
  name: string;
  transformIndexHtml: (html: string) => string;
};
