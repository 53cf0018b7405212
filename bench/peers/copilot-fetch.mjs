/**
 * Loaded before copilot-api: it knows one upstream, GitHub Copilot, and signs in there. What it fetches
 * comes from the mock upstream instead (BENCH_UPSTREAM), whose mode is the name of the model.
 */
const upstream = process.env['BENCH_UPSTREAM'];
const realFetch = globalThis.fetch;

const ANSWERS = [
  ['/copilot_internal/v2/token', { token: 'bench', refresh_in: 3600, expires_at: 4_000_000_000 }],
  ['/models', { object: 'list', data: [] }],
  ['/user', { login: 'bench' }],
];

globalThis.fetch = async (address, options) => {
  const url = String(address);
  if (url.endsWith('/chat/completions')) {
    const mode = /"model":"(\w+)"/.exec(options.body)[1];
    return realFetch(`${upstream}/${mode}/v1/chat/completions`, options);
  }
  const [, answer] = ANSWERS.find(([end]) => url.endsWith(end)) ?? [];
  if (answer === undefined) throw new Error(`${url} is not there in a benchmark`);
  return new Response(JSON.stringify(answer), { headers: { 'content-type': 'application/json' } });
};
