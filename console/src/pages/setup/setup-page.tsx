import { useState } from 'react';
import { useIdentity } from '../../data/identity.js';
import { useText } from '../../text/language.js';
import { Button } from '../../ui/button.js';
import { ErrorNote } from '../../ui/error-note.js';
import { Page, Section } from '../../ui/page.js';
import { Skeleton } from '../../ui/skeleton.js';
import { Clients } from './clients.js';
import { Connected } from './connected.js';
import { FirstSteps } from './first-steps.js';
import { useSetup } from './setup-data.js';
import { strings } from './strings.js';
import { Targets } from './targets.js';
import { Upstreams } from './upstreams.js';

export function SetupPage() {
  const text = useText(strings);
  const [attempt, setAttempt] = useState(0);
  const setup = useSetup(attempt);
  const admin = useIdentity().can('admin');
  return (
    <Page title={text.title} intro={text.intro}>
      {setup.status === 'loading' && <Skeleton lines={6} />}
      {setup.status === 'failed' && (
        <ErrorNote
          title={text.connected.failed}
          message={setup.message}
          action={<Button onClick={() => setAttempt((count) => count + 1)}>{text.connected.retry}</Button>}
        />
      )}
      {setup.status === 'ready' && (
        <>
          <Section title={text.steps.title}>
            <FirstSteps {...setup} />
          </Section>
          {admin && (
            <Upstreams
              statuses={setup.gateway.upstreams}
              onChanged={() => setAttempt((count) => count + 1)}
            />
          )}
          <Section title={text.connected.title}>
            <Connected {...setup} />
          </Section>
          {admin && <Targets />}
          <Section title={text.clients.title} intro={text.clients.intro}>
            <Clients {...setup} />
          </Section>
        </>
      )}
    </Page>
  );
}
