/** Short notes at the edge of the page. Nothing that must be read is only here. */
import { announce } from './announce.js';

type ToastTone = 'ok' | 'warn' | 'danger' | 'info' | 'plain';

interface Toast {
  id: number;
  text: string;
  tone: ToastTone;
}

/** Bad news stays longer. */
const SHOWN_MS: Record<ToastTone, number> = { ok: 4000, plain: 4000, info: 6000, warn: 8000, danger: 12_000 };
const MOST = 4;

let shown: readonly Toast[] = [];
let last = 0;
const listeners = new Set<() => void>();

export function toast(text: string, tone: ToastTone = 'plain'): void {
  last += 1;
  const made: Toast = { id: last, text, tone };
  change([...shown.filter((each) => each.text !== text), made].slice(-MOST));
  announce(text);
  setTimeout(() => dismissToast(made.id), SHOWN_MS[tone]);
}

export function dismissToast(id: number): void {
  if (shown.some((each) => each.id === id)) change(shown.filter((each) => each.id !== id));
}

export function toasts(): readonly Toast[] {
  return shown;
}

export function onToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: readonly Toast[]): void {
  shown = next;
  for (const listener of listeners) listener();
}
