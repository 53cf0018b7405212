import { help } from './help';

export function start() {
  help();
}
