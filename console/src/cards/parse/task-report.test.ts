import { describe, expect, it } from 'vitest';
import type { SubAgentView, TextPart } from '../../data/reducer/view.js';
import { reportOf } from './task-report.js';

const said = (text: string): TextPart => ({ kind: 'text', key: text, text, streaming: false });
const agentThat = (...parts: TextPart[]): SubAgentView => ({ id: 'a', label: 'a', parts, ended: undefined });

describe('the report of a sub-agent', () => {
  it('is what the sub-agent said, without the words that an engine hands it back in', () => {
    const last = said('Found **two** files.\n');
    const agent = agentThat(said('Let me look.'), last);
    const handed = '[hand-back] The text below is the report.\n\nFound **two** files.\n<usage>988</usage>';
    expect(reportOf(handed, agent)).toEqual({ text: 'Found **two** files.', part: last });
  });

  it('is the whole result where that says something else', () => {
    const agent = agentThat(said('Let me look.'));
    expect(reportOf('It was cut short.', agent)).toEqual({ text: 'It was cut short.', part: undefined });
    expect(reportOf('Done.', undefined)).toEqual({ text: 'Done.', part: undefined });
  });
});
