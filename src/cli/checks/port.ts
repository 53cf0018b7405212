import { createServer } from 'node:net';
import { httpGet } from '../shared/http-get.js';
import { type Check, fail, ok } from './check.js';

const ANSWER_TIMEOUT_MS = 2000;

/** Whether `start` could listen, or a gateway listens already. */
export async function checkPort(server: { host: string; port: number }, program: string): Promise<Check> {
  const { host, port } = server;
  const address = gatewayAddress(server);
  const code = await tryListen(host, port);
  switch (code) {
    case undefined:
      return ok('port', port === 0 ? `${host}: any free port` : `${address} is free`);
    case 'EADDRINUSE':
      return (await isGateway(address))
        ? ok('port', `a gateway answers on ${address}`)
        : fail('port', `${address} is used by another program`, `stop it, or run ${program} start --port N`);
    case 'EACCES':
      return fail('port', `${address} may not be used by this user`, 'take a port above 1023');
    case 'EADDRNOTAVAIL':
      return fail('port', `${host} does not belong to this machine`, 'correct `server.host`');
    default:
      return fail('port', `cannot listen on ${address} (${code})`, 'correct `server.host` and `server.port`');
  }
}

export function gatewayAddress({ host, port }: { host: string; port: number }): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Resolves with the code of the error, or undefined where listening worked. */
function tryListen(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve('code' in error ? String(error.code) : error.message));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)));
  });
}

/** Health, with the request id that every answer of a gateway carries: other servers have /healthz too. */
export async function isGateway(address: string): Promise<boolean> {
  const reachable = address.replace(/^0\.0\.0\.0:/, '127.0.0.1:').replace(/^\[::\]:/, '[::1]:');
  const answer = await httpGet(new URL(`http://${reachable}/healthz`), { timeoutMs: ANSWER_TIMEOUT_MS });
  return answer.kind === 'answered' && answer.status === 200 && answer.headers['x-request-id'] !== undefined;
}
