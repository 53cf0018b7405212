import { useEffect, useRef } from 'react';
import { reconnect, startEvents } from '../data/events.js';
import { startNotifications } from '../data/notifications.js';
import { useConsole } from '../data/store.js';
import { useText } from '../text/language.js';
import { Toaster } from '../ui/toaster.js';
import { LiveRegion } from './live-region.js';
import { OtherSignIn } from './other-sign-in.js';
import { check, refresh, type SessionState, useSession } from './session.js';
import { Shell } from './shell.js';
import { SignIn } from './sign-in.js';
import { strings } from './strings.js';

/**
 * Pages stay where they are when the sign-in ends on its own, hidden, so that nothing typed is lost;
 * whoever signs out leaves nothing behind.
 */
export function App() {
  const session = useSession();
  const entered = useRef(false);
  const inside = session.kind === 'in';
  if (inside) entered.current = true;
  useEvents(session);
  return (
    <>
      {entered.current && (
        <div hidden={!inside}>
          <Shell shown={inside} />
        </div>
      )}
      {session.kind !== 'in' && (
        <>
          <SignInTitle />
          <SignIn state={session} kept={entered.current} />
        </>
      )}
      <OtherSignIn />
      <Toaster />
      <LiveRegion />
    </>
  );
}

/** The events are heard for as long as somebody is signed in, and say when that is over. */
function useEvents(session: SessionState): void {
  const connection = useConsole((state) => state.connection);
  const heard = useRef(false);
  const wasLive = useRef(false);
  useEffect(() => {
    if (session.kind !== 'in') return;
    if (heard.current) reconnect();
    else {
      startEvents();
      startNotifications();
    }
    heard.current = true;
  }, [session]);
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
