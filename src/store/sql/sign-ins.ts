import type { SignIn } from '../sign-ins.js';
import { number, type Row, text } from './rows.js';

export function readSignIn(row: Row): SignIn {
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    binding: text(row, 'binding'),
    beganAt: number(row, 'began_at'),
    expiresAt: number(row, 'expires_at'),
  };
}
