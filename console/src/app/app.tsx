import { useEffect, useRef } from 'react';
import { reconnect, startEvents } from '../data/page.js';
import { useConsole } from '../data/store.js';
import { startNotifications } from '../notifications/notifications.js';
import { useText } from '../text/language.js';
import { Toaster } from '../ui/toaster.js';
import { LiveRegion } from './live-region.js';
import { OtherSignIn } from './other-sign-in.js';
import { Shell } from './shell.js';
import { check, refresh, type SignInState, useSignIn } from './sign-in.js';
import { SignInPage } from './sign-in-page.js';
import { strings } from './strings.js';

/**
 * Pages stay where they are when the sign-in ends on its own, hidden, so that nothing typed is lost;
 * whoever signs out leaves nothing behind.
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

/** The events are heard for as long as somebody is signed in, and say when that is over. */
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
