/** Wire captures of a dialect: the files in `fixtures/` beside a test, which gives its `import.meta.url`. */
import { readdirSync, readFileSync } from 'node:fs';
import type { ServerSentEvent } from '../../src/core/server-sent-event.js';

export interface StreamFixture {
  name: string;
  events: ServerSentEvent[];
  /** The neutral events, in JSON: an error is its code and message. */
  expected: unknown;
}

const read = (test: string, name: string): string =>
  readFileSync(new URL(`./fixtures/${name}`, test), 'utf8');

export const loadJson = (test: string, name: string): unknown => JSON.parse(read(test, name));

export const loadEvents = (test: string, name: string): ServerSentEvent[] =>
  parseEvents(read(test, name).trimEnd());

/** Those in `fixtures/streams`. */
export function streamFixtures(test: string): StreamFixture[] {
  return readdirSync(new URL('./fixtures/streams/', test))
    .filter((file) => file.endsWith('.sse'))
    .map((file) => {
      const name = file.slice(0, -'.sse'.length);
      return {
        name,
        events: parseEvents(read(test, `streams/${name}.sse`)),
        expected: loadJson(test, `streams/${name}.json`),
      };
    });
}

/** The events of a stream whose framing is plain: `event` and `data` lines, an empty line between two events. */
export function parseEvents(text: string): ServerSentEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const event: ServerSentEvent = { event: '', data: '' };
      for (const line of block.split('\n')) {
        const at = line.indexOf(': ');
        if (line.slice(0, at) === 'event') event.event = line.slice(at + 2);
        else event.data += line.slice(at + 2);
      }
      return event;
    });
}
