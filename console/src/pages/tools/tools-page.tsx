/** What agents can do, and the servers that it comes from. */
import { useState } from 'react';
import { useConsole } from '../../data/store.js';
import { useText } from '../../text/language.js';
import { Page } from '../../ui/page.js';
import { McpSection } from './mcp-section.js';
import { strings } from './strings.js';
import { ToolList } from './tool-list.js';

export function ToolsPage() {
  const text = useText(strings);
  const change = useConsole((state) => state.changes.mcp);
  // What this page did itself shows at once, whenever its event comes.
  const [own, setOwn] = useState(0);
  return (
    <Page title={text.title} intro={text.intro} width="full">
      <McpSection change={change} onChanged={() => setOwn((before) => before + 1)} />
      <ToolList change={change + own} />
    </Page>
  );
}
