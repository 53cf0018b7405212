/**
 * Pages are converted in a thread of their own: a converter is synchronous, and a hostile page can
 * keep it busy for minutes. The thread is ended when its time is over, whatever it does.
 */
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import * as z from 'zod';
import { deferred } from '../../core/deferred.js';
import { onAbort } from '../../core/stopping.js';
import { convertHtml } from './convert-html.js';

/** The text of a PDF. Runs in a worker, as text: see convert-html.ts. */

interface PdfDocument {
  numPages: number;
  getPage(number: number): Promise<{ getTextContent(): Promise<{ items: readonly object[] }> }>;
}

interface PdfReader {
  getDocumentProxy(bytes: Uint8Array): Promise<PdfDocument>;
}

interface PdfText {
  pages: number;
  text: string;
}

/** Stops after the page on which `maxChars` is reached. Rejects for what is no PDF. */
async function readPdf(reader: PdfReader, bytes: Uint8Array, maxChars: number): Promise<PdfText> {
  const document = await reader.getDocumentProxy(bytes);
  let text = '';
  for (let number = 1; number <= document.numPages && text.length < maxChars; number++) {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    let shown = '';
    for (const item of items) {
      if ('str' in item && typeof item.str === 'string') shown += item.str;
      if ('hasEOL' in item && item.hasEOL === true) shown += '\n';
    }
    text += `${text === '' ? '' : '\n\n'}[Page ${number}]\n${shown.trim()}`;
  }
  return { pages: document.numPages, text };
}

type PageJob =
  | { kind: 'html'; html: string; address: string }
  | { kind: 'pdf'; bytes: Uint8Array; maxChars: number };

type PageOutcome =
  | { done: true; text: string; title: string; pages?: number }
  /** `time`: ended from outside. `failed`: the converter could not cope with the page. */
  | { done: false; why: 'time' | 'failed' | 'aborted' };

const WORKER_LIMITS = { timeMs: 10_000, memoryMb: 384, atOnce: 2 } as const;

const HANDED_OVER = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    text: z.string(),
    title: z.string().default(''),
    pages: z.number().optional(),
  }),
  z.object({ ok: z.literal(false) }),
]);

/** From the text of the functions, so that it is the same file in the sources and in the bundle. */
const SOURCE = `'use strict';
const { parentPort, workerData } = require('node:worker_threads');
const convertHtml = ${convertHtml.toString()};
const readPdf = ${readPdf.toString()};
const { job, modules } = workerData;
async function run() {
  if (job.kind === 'pdf') return readPdf(require(modules.pdf), job.bytes, job.maxChars);
  const { title, markdown } = convertHtml(require(modules.html), require(modules.gfm), job.html, job.address);
  return { title, text: markdown };
}
run().then(
  (page) => parentPort.postMessage({ ok: true, ...page }),
  () => parentPort.postMessage({ ok: false }),
);`;

/** Runs at most so many threads at once; the others wait. One for each tool, whatever the session. */
export class PageWorkers {
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  async convert(
    job: PageJob,
    signal: AbortSignal,
    timeMs: number = WORKER_LIMITS.timeMs,
  ): Promise<PageOutcome> {
    await this.#enter();
    try {
      return await runWorker(job, signal, timeMs);
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < WORKER_LIMITS.atOnce) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The slot goes straight to the next in the queue. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

async function runWorker(job: PageJob, signal: AbortSignal, timeMs: number): Promise<PageOutcome> {
  if (signal.aborted) return { done: false, why: 'aborted' };
  const { resolve: find } = createRequire(import.meta.url);
  const worker = new Worker(SOURCE, {
    eval: true,
    // Neither the gateway's environment nor its flags are any business of a page.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: WORKER_LIMITS.memoryMb },
    workerData: {
      job,
      modules: {
        html: find('turndown'),
        gfm: find('@joplin/turndown-plugin-gfm'),
        pdf: find('unpdf'),
      },
    },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  const { promise, resolve } = deferred<PageOutcome>();
  const timer = setTimeout(() => resolve({ done: false, why: 'time' }), timeMs);
  const release = onAbort(signal, () => resolve({ done: false, why: 'aborted' }));
  worker.on('message', (message: unknown) => resolve(outcomeOf(message)));
  worker.on('error', () => resolve({ done: false, why: 'failed' }));
  worker.on('exit', () => resolve({ done: false, why: 'failed' }));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    release();
    await worker.terminate();
  }
}

function outcomeOf(message: unknown): PageOutcome {
  const parsed = HANDED_OVER.safeParse(message);
  if (!parsed.success || !parsed.data.ok) return { done: false, why: 'failed' };
  const { text, title, pages } = parsed.data;
  return { done: true, text, title, ...(pages === undefined ? {} : { pages }) };
}
