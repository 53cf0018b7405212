export { encodeUtf8 } from './encode-utf8.js';
export { HttpClient } from './http-client.js';
export { readAll } from './read-all.js';
export type {
  HttpClientOptions,
  Method,
  ResponseBody,
  UpstreamRequest,
  UpstreamResponse,
} from './types.js';
