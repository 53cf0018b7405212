/** What can be talked to, and what was chosen last. */
import { useEffect, useState } from 'react';
import type { ModelWire } from '../../../src/server/console-api/wire/sessions.js';
import { get } from '../data/api.js';

export type ModelList =
  | { status: 'loading' }
  | { status: 'failed'; message: string }
  | { status: 'ready'; models: readonly ModelWire[] };

const LAST_MODEL = 'toolgate.chat.model';

/** Rejects with ApiError or Unreachable. */
export async function fetchModels(signal?: AbortSignal): Promise<readonly ModelWire[]> {
  const { data } = await get<{ data: ModelWire[] }>('/api/models', signal);
  known = data;
  return data;
}

/** What the gateway said last: shown at once, and asked for again. */
let known: readonly ModelWire[] | undefined;

export function useModels(): { list: ModelList; reload: () => void } {
  const [list, setList] = useState<ModelList>(
    known === undefined ? { status: 'loading' } : { status: 'ready', models: known },
  );
  const [asked, setAsked] = useState(0);
  useEffect(() => {
    // The next call retries.
    void asked;
    const gone = new AbortController();
    fetchModels(gone.signal).then(
      (models) => setList({ status: 'ready', models }),
      (error: unknown) => {
        if (gone.signal.aborted) return;
        setList({ status: 'failed', message: error instanceof Error ? error.message : String(error) });
      },
    );
    return () => gone.abort();
  }, [asked]);
  return { list, reload: () => setAsked((count) => count + 1) };
}

/** Which entry of the list a name belongs to: itself, else the most specific pattern. */
export function findModel(models: readonly ModelWire[], name: string): ModelWire | undefined {
  const exact = models.find((model) => !model.pattern && model.name === name);
  if (exact !== undefined) return exact;
  return models
    .filter((model) => model.pattern && fits(model.name, name))
    .toSorted((a, b) => specific(b.name) - specific(a.name))[0];
}

/** `*` is any text, also none. */
export function fits(pattern: string, name: string): boolean {
  const source = pattern
    .split('*')
    .map((piece) => piece.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*');
  return name !== '' && new RegExp(`^${source}$`).test(name);
}

function specific(pattern: string): number {
  return pattern.replaceAll('*', '').length;
}

/** For a new chat: the model used last, else an agent, else a model, else a name that a pattern matches. */
export function firstModel(models: readonly ModelWire[], last: string | undefined): string | undefined {
  if (last !== undefined && findModel(models, last) !== undefined) return last;
  const named = models.filter(({ pattern }) => !pattern);
  const chosen = named.find(({ engine }) => engine !== 'relay') ?? named[0];
  if (chosen !== undefined) return chosen.name;
  const open = models.find(({ name }) => name === '*');
  return open?.upstreams[0];
}

export function lastModel(): string | undefined {
  return read();
}

export function rememberModel(model: string): void {
  try {
    localStorage.setItem(LAST_MODEL, model);
  } catch {
    // Chosen again next time.
  }
}

function read(): string | undefined {
  try {
    return localStorage.getItem(LAST_MODEL) ?? undefined;
  } catch {
    return undefined;
  }
}
