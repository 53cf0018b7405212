/** Self-signed certificates for tests, written as DER: no program needs to be installed. */
import { generateKeyPairSync, sign } from 'node:crypto';
import { isIP } from 'node:net';

export interface TestCertificate {
  key: string;
  cert: string;
}

export interface CertificateOptions {
  /** DNS names and IPv4 addresses. */
  names: string[];
  validFrom?: Date;
  validTo?: Date;
}

const OID_ECDSA_SHA256 = '06082a8648ce3d040302';
const OID_COMMON_NAME = '0603550403';
const OID_ALT_NAME = '0603551d11';

const DAY_MS = 86_400_000;

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...contents: Buffer[]) => der(0x30, ...contents);
const oid = (hex: string) => Buffer.from(hex, 'hex');

function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/\D/g, '').slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}

function altName(name: string): Buffer {
  return isIP(name) === 4
    ? der(0x87, Buffer.from(name.split('.').map(Number)))
    : der(0x82, Buffer.from(name, 'ascii'));
}

export function makeCertificate(options: CertificateOptions): TestCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const algorithm = sequence(oid(OID_ECDSA_SHA256));
  const name = sequence(der(0x31, sequence(oid(OID_COMMON_NAME), der(0x0c, Buffer.from('test')))));
  const from = options.validFrom ?? new Date(Date.now() - DAY_MS);
  const to = options.validTo ?? new Date(Date.now() + DAY_MS);
  const names = der(0x04, sequence(...options.names.map(altName)));
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name,
    sequence(utcTime(from), utcTime(to)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(oid(OID_ALT_NAME), names))),
  );
  const signature = sign('sha256', body, privateKey);
  const whole = sequence(body, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
