import { save } from '../../ui/save.js';

/** Gives the person a file that this page has made. */
export function download(name: string, type: string, text: string): void {
  save(name, new Blob([text], { type }));
}
