/** From a server's configuration to a wire. */
import { resolvePath } from '../../config/paths.js';
import type { McpServerConfig } from '../../config/schema.js';
import type { HttpClient } from '../../transport/http-client/http-client.js';
import { commandEnvironment } from '../../workspace/process/command-environment.js';
import type { ServerSignIn } from './oauth/sign-in.js';
import { openHttp } from './wire/http-wire.js';
import type { Sdk } from './wire/sdk.js';
import { openStdio } from './wire/stdio-wire.js';
import type { Wire, WireContext } from './wire/wire.js';

interface WireSetup {
  config: McpServerConfig;
  environment: Readonly<Record<string, string | undefined>>;
  baseDir: string;
  http(): HttpClient;
  /** For other hosts than the server's own. */
  elsewhere?: (url: URL, signal: AbortSignal) => Promise<HttpClient>;
  /** Undefined where no sign-in is possible. */
  signIn(): Promise<ServerSignIn | undefined>;
}

export async function openWire(setup: WireSetup, context: WireContext, sdk: Sdk): Promise<Wire> {
  const { config, environment, baseDir } = setup;
  if (config.type === 'stdio') {
    const options = {
      command: /^~?\.{0,2}\//.test(config.command) ? resolvePath(config.command, baseDir) : config.command,
      args: config.args,
      cwd: baseDir,
      env: { ...commandEnvironment(environment), ...config.env },
    };
    return openStdio(sdk, options, context);
  }
  const url = new URL(config.url);
  const signIn = hasCredential(config) ? undefined : await setup.signIn();
  return openHttp(
    sdk,
    {
      type: config.type,
      url,
      headers: { ...basicCredential(url), ...config.headers },
      client: setup.http(),
      ...(setup.elsewhere === undefined ? {} : { elsewhere: setup.elsewhere }),
      ...(signIn === undefined ? {} : { authProvider: signIn }),
    },
    context,
  );
}

/** With a credential of its own a server is never signed in to. */
export function hasCredential(config: McpServerConfig): boolean {
  if (config.type === 'stdio') return false;
  const url = new URL(config.url);
  return (
    url.password !== '' || Object.keys(config.headers).some((name) => name.toLowerCase() === 'authorization')
  );
}

/** A user and password in the address go into a header, and out of the address that errors show. */
function basicCredential(url: URL): Record<string, string> {
  if (url.username === '' && url.password === '') return {};
  const pair = `${decoded(url.username)}:${decoded(url.password)}`;
  url.username = '';
  url.password = '';
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
