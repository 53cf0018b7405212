/** Takes the JSON that a server's guide shows, and fills the form with it. */
import { useState } from 'react';
import { useText } from '../../text/language.js';
import { Disclosure } from '../../ui/disclosure.js';
import { Field } from '../../ui/field.js';
import { Select } from '../../ui/select.js';
import { TextArea } from '../../ui/text-area.js';
import { type PastedServer, type PasteProblem, readPasted } from './pasted-servers.js';
import type { ServerForm } from './server-form.js';
import { strings } from './strings.js';

export function PasteServers({ onFill }: { onFill: (form: ServerForm) => void }) {
  const text = useText(strings);
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<PasteProblem>();
  const [servers, setServers] = useState<readonly PastedServer[]>([]);
  const [chosen, setChosen] = useState(0);
  const fill = (from: readonly PastedServer[], index: number) => {
    const server = from[index];
    setChosen(index);
    if (server !== undefined) onFill(server.form);
  };
  const take = (next: string) => {
    setTyped(next);
    setProblem(undefined);
    if (next.trim() === '') return;
    const pasted = readPasted(next);
    if ('problem' in pasted) {
      setProblem(pasted.problem);
      return;
    }
    // It is in the form now, where its secrets are not shown.
    setTyped('');
    setServers(pasted.servers);
    fill(pasted.servers, 0);
  };
  const server = servers[chosen];
  return (
    <Disclosure summary={text.paste}>
      <div className="flex flex-col gap-3 pt-2 pl-5">
        <Field
          label={text.pasted}
          hint={text.pastedHint}
          error={problem === undefined ? undefined : text.pasteProblems[problem]}
        >
          <TextArea
            rows={4}
            value={typed}
            spellCheck={false}
            autoComplete="off"
            className="font-mono !text-xs"
            placeholder={'{ "mcpServers": { … } }'}
            onChange={(event) => take(event.target.value)}
          />
        </Field>
        {servers.length > 1 && (
          <Select
            label={text.pastedWhich}
            value={String(chosen)}
            options={servers.map(({ form }, index) => ({ value: String(index), label: form.name }))}
            onChange={(index) => fill(servers, Number(index))}
          />
        )}
        <div role="status" className="text-sm empty:hidden">
          {server !== undefined && problem === undefined && (
            <>
              <p className="text-ok">{text.filled(server.form.name)}</p>
              {server.left.length > 0 && (
                <p className="text-warn">{text.pasteLeft(server.left.join(', '))}</p>
              )}
            </>
          )}
        </div>
      </div>
    </Disclosure>
  );
}
