import { sharedValue } from '../data/shared-value.js';

export interface Offer {
  token: string;
  /** Whose token it is. */
  name: string;
}

/**
 * A token in the address that is of somebody else than who is signed in: changing that needs a word
 * of the person, for the link may come from anybody.
 */
const offer = sharedValue<Offer | undefined>(undefined);

export const useOffer = offer.use;
export const setOffer = offer.set;
