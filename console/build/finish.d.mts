/** `workerSource`: the service worker before its files are written into it. */
export function finish(folder: string, workerSource: string): Promise<void>;
export function writeWorker(folder: string, workerSource: string): Promise<void>;
