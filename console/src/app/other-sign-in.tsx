import { useIdentity } from '../data/identity.js';
import { useText } from '../text/language.js';
import { Confirm } from '../ui/confirm.js';
import { setOffer, useOffer } from './offer.js';
import { replaceSignIn } from './sign-in.js';
import { strings } from './strings.js';

/** Asks before a link changes who is signed in. */
export function OtherSignIn() {
  const text = useText(strings).otherSignIn;
  const offer = useOffer();
  const { name } = useIdentity();
  return (
    <Confirm
      open={offer !== undefined}
      title={text.title(offer?.name ?? '')}
      text={text.text(name, offer?.name ?? '')}
      action={text.action(offer?.name ?? '')}
      tone="primary"
      onConfirm={async () => {
        if (offer !== undefined) await replaceSignIn(offer.token);
      }}
      onClose={() => setOffer(undefined)}
    />
  );
}
