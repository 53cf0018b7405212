/** Where the clients are that `npm test` has installed. */
import { existsSync } from 'node:fs';

const TRIAL: Readonly<Record<string, string>> = {
  'Claude Code': '/tmp/clients/node_modules/@anthropic-ai/claude-agent-sdk-linux-x64/claude',
};

export function clientProgram(name: string): string {
  const path = TRIAL[name];
  if (path === undefined || !existsSync(path)) throw new Error(name);
  return path;
}
