/** `/api/session`. Types alone: the console imports them too. */
import type { ErrorWire } from './shared.js';

/** Who is signed in. */
export interface IdentityWire {
  /** Of the key; the operator of a gateway without keys has one too. */
  name: string;
  scopes: readonly string[];
  models: readonly string[];
}

/** Of a 409 (`other_sign_in`): nothing has changed. */
export interface OtherSignInWire extends ErrorWire {
  signed_in: IdentityWire;
  /** Whose token it is. */
  offered: IdentityWire;
}
