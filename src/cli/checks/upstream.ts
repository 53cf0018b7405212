import { isLoopback } from '../../config/check.js';
import { maskUrl } from '../../config/redact.js';
import type { RemoteUpstreamConfig, UpstreamConfig } from '../../config/schema.js';
import { endpointOf, modelListRequest, targetsOf } from '../../upstreams/endpoint.js';
import { type GetResult, httpGet, modelIds } from '../shared/http-get.js';
import { type Check, fail, ok, warn } from './check.js';

const PROBE_TIMEOUT_MS = 5000;

/** By the code of the system or of the TLS library. */
const FAILURES: Readonly<Record<string, { finding: string; advice: string }>> = {
  ENOTFOUND: {
    finding: 'its name is not known',
    advice: 'check the spelling of `base_url`, and that this machine reaches the network and its DNS',
  },
  EAI_AGAIN: {
    finding: 'the name service does not answer',
    advice: 'check that this machine reaches the network and its DNS',
  },
  ECONNREFUSED: {
    finding: 'nothing listens there',
    advice: 'start the server, or correct host and port in `base_url`',
  },
  ETIMEDOUT: {
    finding: `no answer within ${PROBE_TIMEOUT_MS / 1000} s`,
    advice: 'check `base_url`, and whether a firewall or a proxy stands between',
  },
  ECONNRESET: {
    finding: 'it closed the connection',
    advice: 'check whether `base_url` needs https:// instead of http://, or the other way round',
  },
  HPE_INVALID_CONSTANT: {
    finding: 'it does not speak HTTP',
    advice: 'check whether `base_url` needs https:// instead of http://, and its port',
  },
  EPROTO: { finding: 'it does not speak TLS', advice: 'use http:// in `base_url`' },
  ERR_SSL_WRONG_VERSION_NUMBER: { finding: 'it does not speak TLS', advice: 'use http:// in `base_url`' },
  ERR_SSL_PACKET_LENGTH_TOO_LONG: { finding: 'it does not speak TLS', advice: 'use http:// in `base_url`' },
  EHOSTUNREACH: { finding: 'there is no way to it', advice: 'check the network of this machine' },
  ENETUNREACH: { finding: 'there is no way to it', advice: 'check the network of this machine' },
};

const CERTIFICATE_CODE = /CERT|SIGNATURE|ISSUER|ALTNAME/;

/** One for each target. */
export async function checkUpstream(name: string, upstream: UpstreamConfig): Promise<Check[]> {
  if (upstream.dialect === 'demo') return [ok(`upstream ${name}`, 'the embedded demo model')];
  return Promise.all(
    targetsOf(name, upstream).map(async ({ name: target, options }) =>
      describeAnswer(`upstream ${target}`, options, await askForModels(options)),
    ),
  );
}

function askForModels(upstream: RemoteUpstreamConfig): Promise<GetResult> {
  const { url, headers } = modelListRequest(endpointOf(upstream), upstream.dialect);
  return httpGet(url, { headers, timeoutMs: PROBE_TIMEOUT_MS });
}

function describeAnswer(subject: string, upstream: RemoteUpstreamConfig, result: GetResult): Check {
  const address = maskUrl(upstream.base_url);
  if (result.kind === 'failed') {
    const { finding, advice } = failureOf(result.code);
    return fail(subject, `${address}: ${finding}`, advice);
  }
  const { status, ms } = result;
  const answered = `${address}: ${status} in ${ms} ms`;
  if (status >= 200 && status < 300) {
    const models = modelIds(result.body);
    if (models === undefined) {
      return warn(subject, `${answered}, but no list of models`, baseUrlAdvice(upstream));
    }
    const clear = sendsKeyInClear(upstream);
    const finding = `${answered}, ${models.length === 1 ? '1 model' : `${models.length} models`}`;
    return clear ? warn(subject, finding, clear) : ok(subject, finding);
  }
  if (status === 401 || status === 403) {
    return upstream.api_key === undefined && upstream.headers === undefined
      ? fail(
          subject,
          `${answered}: it wants a credential`,
          'add `api_key` to it, from an environment variable',
        )
      : fail(
          subject,
          `${answered}: it refuses the credential`,
          'check `api_key`: is it whole, not revoked, and of this provider?',
        );
  }
  if (status >= 300 && status < 400) {
    const { location } = result.headers;
    const target = location === undefined ? 'elsewhere' : `to ${maskUrl(location)}`;
    return fail(
      subject,
      `${answered}: it redirects ${target}`,
      'put the address it redirects to into `base_url`',
    );
  }
  if (status === 429) {
    return warn(
      subject,
      `${answered}: too many requests`,
      'wait, or check the limits and the balance of the account',
    );
  }
  if (status === 404 || status === 405) {
    return warn(subject, `${answered}: it has no list of models`, baseUrlAdvice(upstream));
  }
  if (status >= 500)
    return fail(subject, `${answered}: it is failing`, 'try again later, or look at its own log');
  return warn(subject, answered, baseUrlAdvice(upstream));
}

function failureOf(code: string): { finding: string; advice: string } {
  const known = FAILURES[code];
  if (known !== undefined) return known;
  if (CERTIFICATE_CODE.test(code)) {
    return {
      finding: `its certificate is not trusted (${code})`,
      advice: 'check the host in `base_url`; for a certificate of your own set NODE_EXTRA_CA_CERTS',
    };
  }
  return {
    finding: `cannot be reached (${code})`,
    advice: 'check `base_url` and the network of this machine',
  };
}

/** The mistake that is made most: the version in the path, which one SDK adds and the others do not. */
function baseUrlAdvice({ dialect, base_url }: RemoteUpstreamConfig): string {
  const versioned = /\/v\d+\w*(?:\/|$)/.test(new URL(base_url).pathname);
  if (dialect === 'anthropic-messages' && versioned) {
    return '`base_url` of this dialect is without /v1: leave it out';
  }
  if (dialect !== 'anthropic-messages' && !versioned) {
    return '`base_url` of this dialect usually ends with /v1: add it';
  }
  return 'fine where the server has no such list; otherwise check `base_url`';
}

function sendsKeyInClear(upstream: RemoteUpstreamConfig): string | undefined {
  const { protocol, hostname } = new URL(upstream.base_url);
  if (protocol !== 'http:' || upstream.api_key === undefined || isLoopback(hostname)) return undefined;
  return 'its key goes over the network in clear text: use https://';
}
