import { describe, expect, it } from 'vitest';
import type { AgentActivity } from '../../activity/activity.js';
import { PersonWait } from './person-wait.js';

const DESCRIBE = { title: 'Run it', kind: 'command', paths: [] } as const;

function asked(id: string): AgentActivity {
  return {
    type: 'tool',
    session: 's',
    event: { type: 'tool-waiting', id, name: 'Bash', describe: DESCRIBE, approval: 'a' },
  };
}

function began(id: string): AgentActivity {
  return { type: 'tool', session: 's', event: { type: 'tool-start', id, name: 'Bash', describe: DESCRIBE } };
}

describe('the time that a turn waits for people', () => {
  it('counts once while several calls wait, and stops when the last of them goes on', () => {
    let now = 0;
    const wait = new PersonWait(() => now);
    const at = (time: number, activity: AgentActivity) => {
      now = time;
      wait.observe(activity);
    };
    at(10, began('read'));
    at(100, asked('one'));
    at(300, asked('two'));
    now = 400;
    expect(wait.ms).toBe(300);
    at(600, began('one'));
    expect(wait.ms).toBe(500);
    at(1100, began('two'));
    at(9000, began('three'));
    expect(wait.ms).toBe(1000);
    at(9100, asked('three'));
    at(9200, began('three'));
    expect(wait.ms).toBe(1100);
  });
});
