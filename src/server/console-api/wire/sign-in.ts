/** `/api/session`. Types alone: the console imports them too. */

/** Every error of `/api`. */
export interface ErrorWire {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** Who is signed in. */
export interface IdentityWire {
  /** Of the key; the operator of a gateway without keys has one too. */
  name: string;
  scopes: readonly string[];
  models: readonly string[];
}

/** Of a sign-in. */
export interface SignedInWire extends IdentityWire {
  /**
   * What has to come as `x-toolgate-page` with the cookie: the secret that the request had there, or
   * a new one to keep.
   */
  page: string;
}

/** Of a 409 (`other_sign_in`): nothing has changed. */
export interface OtherSignInWire extends ErrorWire {
  signed_in: IdentityWire;
  /** Whose token it is. */
  offered: IdentityWire;
}
