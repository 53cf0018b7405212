/** What is configured or stored by the thousand and not used: does a request pay for it? */
import { createCheck } from '../lib/checks.mjs';
import { flat } from '../lib/goals.mjs';
import { runLoad } from '../lib/load.mjs';
import { upstreamName } from '../targets/gateway.mjs';

const MANY = 1000;
const WINDOW_MS = 600;

const keyOf = (index) => `bench-key-${String(index).padStart(26, '0')}`;
const modelOf = (index) => `family-${index}-*`;

/** The last key and the last glob are the ones that are used. */
const VARIANTS = {
  'keys-1': { keys: 1, globs: 1, title: 'CPU of a 49 KB JSON request with 1 key and 1 model glob' },
  [`keys-${MANY}`]: { keys: MANY, globs: 1, title: `the same with ${MANY} keys` },
  [`globs-${MANY}`]: { keys: 1, globs: MANY, title: `the same with ${MANY} model globs` },
};

const indexes = (count) => Array.from({ length: count }, (_, index) => index);

export const many = {
  name: 'many',
  targets: ['gateway'],
  rounds: 6,
  seconds: 50,
  rows: Object.entries(VARIANTS).map(([name, { title }]) => ({
    name,
    title,
    unit: 'ms',
    ...(name !== 'keys-1' && { goal: flat('keys-1') }),
  })),
  jobs: Object.keys(VARIANTS).map((name) => ({ name, ...VARIANTS[name] })),
  rowsOf: ({ name }) => [name],

  async open(target, { mock }) {
    const lanes = {};
    const stop = () => Promise.all(Object.values(lanes).map((running) => running.stop()));
    try {
      for (const [name, { keys, globs }] of Object.entries(VARIANTS)) {
        const configure = (configuration) => {
          configuration.server.keys = indexes(keys).map((index) => ({
            key: keyOf(index),
            name: `bench-${index}`,
            scopes: ['call'],
          }));
          const entry = { upstream: upstreamName('chat', 'json'), model: 'gpt-5.4' };
          configuration.models = Object.fromEntries(indexes(globs).map((index) => [modelOf(index), entry]));
        };
        lanes[name] = await target.start(mock, { configure });
      }
    } catch (error) {
      await stop();
      throw error;
    }
    return { target, lanes, running: { stop } };
  },

  async measure({ target, lanes }, { name, keys, globs }, { quick, warming }) {
    const running = lanes[name];
    const before = running.cpuNs();
    const { count } = await runLoad({
      port: running.port,
      request: target.request('forward', 'json', {
        key: keyOf(keys - 1),
        model: modelOf(globs - 1).replace('*', 'large'),
      }),
      concurrency: 16,
      durationMs: quick ? 0 : WINDOW_MS,
      minCount: quick ? 16 : warming ? 1000 : 100,
      maxMs: 2000,
      check: createCheck('anthropic', 'json'),
    });
    return { [name]: (running.cpuNs() - before) / count / 1e6 };
  },
};
