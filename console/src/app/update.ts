/**
 * The service worker starts the console without the gateway, and brings new versions. Its version is
 * separate from that of the page: an open page keeps the version that it was loaded with.
 */
import { useSyncExternalStore } from 'react';

let ready = false;
const listeners = new Set<() => void>();

/** Whether a newer version would be shown after a reload. */
export function useUpdate(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => ready,
    () => false,
  );
}

const WORKER = '/service-worker.js';

/** Browsers that have no workers, or no secure context for one, do without. */
export async function registerWorker(): Promise<void> {
  if (!('serviceWorker' in navigator)) return;
  const first = navigator.serviceWorker.controller === null;
  let claimed = false;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    // The first worker takes over the page that brought it: that is no update.
    if (first && !claimed) claimed = true;
    else setReady();
  });
  try {
    const registration = await navigator.serviceWorker.register(scriptUrl(WORKER), {
      updateViaCache: 'none',
    });
    // A page may be open for days.
    addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') registration.update().catch(() => {});
    });
  } catch (error) {
    console.info('The console works without its service worker', error);
  }
}

function setReady(): void {
  ready = true;
  for (const listener of listeners) listener();
}

/** As much of Trusted Types as is used here. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL: (url: string) => string };
}

declare global {
  interface Window {
    readonly trustedTypes?: TrustedTypes;
  }
}

/** Named by the content security policy; it lets nothing through but this one address. */
const POLICY = 'toolgate';

function scriptUrl(url: string): string {
  const policy = window.trustedTypes?.createPolicy(POLICY, {
    createScriptURL: (asked) => {
      if (asked === WORKER) return asked;
      throw new TypeError('No other script is started by its address');
    },
  });
  return policy?.createScriptURL(url) ?? url;
}
