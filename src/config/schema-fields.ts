/** Kinds of values in toolgate.yaml. Texts given to `error` complete the line "key path: …" of a ConfigError. */
import * as z from 'zod';

export const text = (description: string) => z.string().min(1).meta({ description });
export const flag = (description: string) => z.boolean().meta({ description });
export const seconds = (description: string) => z.number().positive().meta({ description });
export const count = (description: string) => z.int().positive().meta({ description });

/** Goes into a header as it is. */
export const credential = (description: string) =>
  z
    .string()
    .min(1)
    .regex(/^[\x21-\x7e]*$/, { error: 'expected a credential of visible ASCII characters without spaces' })
    .meta({ description });

export const httpUrl = (description: string) =>
  z
    .string()
    .refine(isHttpUrl, { error: 'expected an address that starts with http:// or https://' })
    .meta({ description });

export const headers = (description: string) =>
  z
    .record(
      z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: 'expected a header name' }),
      z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, { error: 'expected a header value of one line' }),
    )
    .meta({ description });

export const hosts = (description: string) =>
  z
    .array(
      z.string().refine(isHostAndPort, {
        error: 'expected a host or host:port without a scheme, for example wiki.example.com or 10.0.0.5:8080',
      }),
    )
    .meta({ description });

function isHostAndPort(value: string): boolean {
  if (!/^(?:\[[0-9A-Fa-f:.]+\]|[^\s/@?#:[\]]+)(?::\d{1,5})?$/.test(value)) return false;
  return URL.canParse(`http://${value}`);
}

function isHttpUrl(value: string): boolean {
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value)) return false;
  return new URL(value).hash === '';
}
