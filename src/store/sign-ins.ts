/**
 * Sign-ins of browsers to the console. Nothing here lets anybody in, or helps to guess a key: both
 * need the id that only the browser's cookie has.
 */

export interface SignIn {
  /** A digest of the cookie's id. */
  id: string;
  /** Of the key when it began. What it says now, only who has the cookie's id can tell by the binding. */
  name: string;
  /** Ties it to a credential. */
  binding: string;
  beganAt: number;
  expiresAt: number;
}

export interface SignInStore {
  /** How many are kept; of more, those unused for longest are pruned. */
  readonly most: number;
  /** One that is there already stays as it is. */
  add(signIn: SignIn): Promise<void>;
  /** Undefined also where its time is over. */
  get(id: string): Promise<SignIn | undefined>;
  /** Those whose time is not over, the one unused for longest first. */
  list(): Promise<SignIn[]>;
  /** Never makes one end earlier, and brings none back that is gone. */
  extend(ends: readonly Pick<SignIn, 'id' | 'expiresAt'>[]): Promise<void>;
  remove(ids: readonly string[]): Promise<void>;
}
