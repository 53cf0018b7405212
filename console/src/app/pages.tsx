/** The page of a route, each loaded when it is first shown. */
import { lazy, Suspense } from 'react';
import { useText } from '../text/language.js';
import { buttonClasses } from '../ui/button.js';
import { EmptyState } from '../ui/empty-state.js';
import { Link, type Route } from '../ui/router.js';
import { Spinner } from '../ui/spinner.js';
import { ErrorBoundary } from './error-boundary.js';
import { strings } from './strings.js';

const ChatPage = lazy(async () => ({ default: (await import('../chat/chat-page.js')).ChatPage }));
const InboxPage = lazy(async () => ({ default: (await import('../approvals/inbox-page.js')).InboxPage }));
const SessionsPage = lazy(async () => ({
  default: (await import('../pages/sessions/sessions-page.js')).SessionsPage,
}));
const TracesPage = lazy(async () => ({
  default: (await import('../pages/traces/traces-page.js')).TracesPage,
}));
const ToolsPage = lazy(async () => ({ default: (await import('../pages/tools/tools-page.js')).ToolsPage }));
const RulesPage = lazy(async () => ({ default: (await import('../pages/rules/rules-page.js')).RulesPage }));
const KeysPage = lazy(async () => ({ default: (await import('../pages/keys/keys-page.js')).KeysPage }));
const UsagePage = lazy(async () => ({ default: (await import('../pages/usage/usage-page.js')).UsagePage }));
const SetupPage = lazy(async () => ({ default: (await import('../pages/setup/setup-page.js')).SetupPage }));

export function Pages({ route }: { route: Route }) {
  const text = useText(strings);
  return (
    <ErrorBoundary key={route.page}>
      <Suspense
        fallback={
          <div className="p-8">
            <Spinner label={text.loadingPage} show />
          </div>
        }
      >
        <PageOf route={route} />
      </Suspense>
    </ErrorBoundary>
  );
}

function PageOf({ route }: { route: Route }) {
  switch (route.page) {
    case 'chat':
      return <ChatPage session={route.session} />;
    case 'inbox':
      return <InboxPage />;
    case 'sessions':
      return <SessionsPage />;
    case 'traces':
      return <TracesPage id={route.id} />;
    case 'tools':
      return <ToolsPage />;
    case 'rules':
      return <RulesPage />;
    case 'keys':
      return <KeysPage />;
    case 'usage':
      return <UsagePage />;
    case 'setup':
      return <SetupPage />;
    case 'unknown':
      return <UnknownPage path={route.path} />;
  }
}

function UnknownPage({ path }: { path: string }) {
  const { unknown } = useText(strings);
  return (
    <div className="mx-auto max-w-2xl px-4 py-10">
      <h1 className="mb-4 text-xl font-semibold">{unknown.title}</h1>
      <EmptyState
        title={unknown.text(path)}
        action={
          <Link to="#/" className={buttonClasses('primary')}>
            {unknown.action}
          </Link>
        }
      />
    </div>
  );
}
