export function buildConsole(outDir?: string, options?: { version?: string }): Promise<string>;
