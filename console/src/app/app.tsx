import { useEffect, useRef, useState } from 'react';
import { useIdentity } from '../data/identity.js';
import { reconnect, startEvents } from '../data/page.js';
import { useConsole } from '../data/store.js';
import { startNotifications } from '../notifications/notifications.js';
import { useText } from '../text/language.js';
import { onAnnounce } from '../ui/announce.js';
import { Confirm } from '../ui/confirm.js';
import { Toaster } from '../ui/toaster.js';
import { Shell } from './shell.js';
import { check, refresh, replaceSignIn, type SignInState, setOffer, useOffer, useSignIn } from './sign-in.js';
import { SignInPage } from './sign-in-page.js';
import { strings } from './strings.js';

/**
 * When the sign-in expires, the pages stay mounted and hidden, so that no draft is lost. Signing out
 * reloads the page and clears all drafts.
 */
export function App() {
  const signIn = useSignIn();
  const entered = useRef(false);
  const inside = signIn.kind === 'in';
  if (inside) entered.current = true;
  useEvents(signIn);
  return (
    <>
      {entered.current && (
        <div hidden={!inside}>
          <Shell shown={inside} />
        </div>
      )}
      {signIn.kind !== 'in' && (
        <>
          <SignInTitle />
          <SignInPage state={signIn} kept={entered.current} />
        </>
      )}
      <OtherSignIn />
      <Toaster />
      <LiveRegion />
    </>
  );
}

/** The page subscribes to the events while it is signed in; they report when the sign-in has ended. */
function useEvents(signIn: SignInState): void {
  const connection = useConsole((state) => state.connection);
  const heard = useRef(false);
  const wasLive = useRef(false);
  useEffect(() => {
    if (signIn.kind !== 'in') return;
    if (heard.current) reconnect();
    else {
      startEvents();
      startNotifications();
    }
    heard.current = true;
  }, [signIn]);
  useEffect(() => {
    if (connection === 'signed-out') void check();
    if (connection !== 'live') return;
    if (wasLive.current) void refresh();
    wasLive.current = true;
  }, [connection]);
}

function SignInTitle() {
  const title = useText(strings).signIn.title;
  useEffect(() => {
    document.title = `Toolgate – ${title}`;
  }, [title]);
  return null;
}

/** The page's one live region. */
function LiveRegion() {
  const [said, setSaid] = useState({ text: '', turn: 0 });
  useEffect(() => onAnnounce((text) => setSaid(({ turn }) => ({ text, turn: turn + 1 }))), []);
  // A screen reader repeats a text only if the node changes: a no-break space alternates.
  return (
    <p role="status" aria-live="polite" className="sr-only" data-announcer="">
      {said.text}
      {said.turn % 2 === 0 ? '' : '\u00a0'}
    </p>
  );
}

/** Asks before a link changes who is signed in. */
function OtherSignIn() {
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
