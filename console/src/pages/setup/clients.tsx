import { useId, useState } from 'react';
import { useText } from '../../text/language.js';
import { CodeBlock } from '../../ui/code-block.js';
import { Field } from '../../ui/field.js';
import { InfoIcon } from '../../ui/icons.js';
import { Input } from '../../ui/input.js';
import { Tabs } from '../../ui/tabs.js';
import type { Setup } from './setup-data.js';
import { CLIENTS, type ClientName, KEY_VARIABLE, type SnippetFacts, snippetsOf } from './snippets.js';
import { strings } from './strings.js';

export function Clients({ gateway, models }: Setup) {
  const text = useText(strings).clients;
  const suggestions = useId();
  const named = models.filter((model) => !model.pattern).map(({ name }) => name);
  const [typed, setTyped] = useState<string>();
  const model = typed ?? named[0] ?? 'demo';
  const facts: SnippetFacts = {
    origin: location.origin,
    model: model.trim() || 'demo',
    keys: gateway.keys.configured,
  };
  return (
    <div className="flex flex-col gap-4">
      <div className="max-w-md">
        <Field label={text.model} hint={text.modelHint}>
          <Input
            list={suggestions}
            value={model}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => setTyped(event.target.value)}
          />
        </Field>
        <datalist id={suggestions}>
          {named.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </div>
      <Note text={facts.keys ? text.needsKey(KEY_VARIABLE) : text.anyKey} />
      <Tabs
        label={text.tabs}
        tabs={CLIENTS.map((client) => ({
          id: client,
          label: text.names[client],
          content: <Client client={client} facts={facts} />,
        }))}
      />
    </div>
  );
}

function Client({ client, facts }: { client: ClientName; facts: SnippetFacts }) {
  const text = useText(strings).clients;
  const name = text.names[client];
  const snippets = snippetsOf(client, facts);
  return (
    <div className="flex flex-col gap-3">
      <p className="max-w-prose text-sm text-muted">{text.notes[client]}</p>
      {client === 'mcp' && <Note text={(facts.keys ? text.mcpKey : text.mcpToken)(KEY_VARIABLE)} />}
      <div className={`grid gap-3 ${client === 'anthropic' || client === 'openai' ? 'xl:grid-cols-2' : ''}`}>
        {snippets.map((snippet) => (
          <CodeBlock
            key={snippet.id}
            text={snippet.text}
            language={snippet.language}
            label={text.example(snippet.title === name ? name : `${name} · ${snippet.title}`)}
            title
          />
        ))}
      </div>
    </div>
  );
}

function Note({ text }: { text: string }) {
  return (
    <p className="flex items-start gap-2 text-sm">
      <InfoIcon className="mt-0.5 shrink-0 text-info" />
      <span className="min-w-0 max-w-prose">{text}</span>
    </p>
  );
}
