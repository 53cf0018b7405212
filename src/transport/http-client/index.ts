export { encodeUtf8 } from './encode-utf8.js';
export { HttpClient } from './http-client.js';
export { readAll } from './read-all.js';
export type {
  HttpClientOptions,
  HttpRequest,
  HttpResponse,
  Method,
  ResponseBody,
} from './types.js';
