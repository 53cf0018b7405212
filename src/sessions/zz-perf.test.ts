import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import type { Message } from '../core/conversation.js';
import { call, result, SessionsBench, said, user } from './testing.js';

it('perf', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'perf-'));
  const bench = await SessionsBench.open({ url: 'sqlite:p.db', baseDir: folder, now: Date.now });
  const tools = Array.from({ length: 10 }, (_, i) => ({ name: `tool_${i}`, description: 'd'.repeat(300), inputSchema: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'number' } } } }));
  const system = [{ type: 'text' as const, text: 's'.repeat(4000) }];
  const words = 'lorem ipsum dolor sit amet '.repeat(40);
  let told: Message[] = [];
  const times: number[][] = [];
  let base: Message[] = [];
  for (let i = 0; i < 25; i += 1) {
    told.push(user(`${i} ${words}`));
    const t = await bench.turn(told, { tools, system });
    t.transcript.push(said(`${i} answer ${words}`));
    await t.complete({ answer: { blocks: said(`${i} answer ${words}`).content, reason: 'end_turn' } });
    told.push(said(`${i} answer ${words}`));
  }
  base = [...told];
  for (let i = 0; i < 60; i += 1) {
    const req = [...base, user(`more ${i}`)];
    const t0 = (() => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; })();
    const t = await bench.turn(req, { tools, system });
    const t1 = (() => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; })();
    t.transcript.push(said(`x ${i}`, call(`s${i}`, 'Read')));
    await t.save();
    t.transcript.push(user(result(`s${i}`, words)));
    await t.save();
    const t2 = (() => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; })();
    t.transcript.push(said(`reply ${i}`));
    await t.complete({ answer: { blocks: said(`reply ${i}`).content, reason: 'end_turn' } });
    const t3 = (() => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; })();
    times.push([t1 - t0, t2 - t1, t3 - t2]);
    if (t.how !== (i === 0 ? 'continue' : 'fork')) throw new Error(t.how);
  }
  const cont: number[][] = [];
  told = [...base, user('more 0'), said('reply 0')];
  for (let i = 0; i < 100; i += 1) {
    told.push(user(`c ${i}`));
    const t0 = (() => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; })();
    const t = await bench.turn(told, { tools, system });
    const t1 = (() => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; })();
    t.transcript.push(said(`y ${i}`));
    await t.complete({ answer: { blocks: said(`y ${i}`).content, reason: 'end_turn' } });
    cont.push([t1 - t0, (() => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; })() - t1]);
    if (t.how !== 'continue') throw new Error(t.how);
    told.push(said(`y ${i}`));
  }
  const med = (xs: number[]) => xs.sort((a, b) => a - b)[Math.floor(xs.length / 2)]?.toFixed(2);
  console.log('fork attach/2 saves/complete', [0, 1, 2].map((k) => med(times.map((x) => x[k] ?? 0))));
  console.log('continue attach/complete first 20', [0, 1].map((k) => med(cont.slice(0, 20).map((x) => x[k] ?? 0))), 'last 20', [0, 1].map((k) => med(cont.slice(80).map((x) => x[k] ?? 0))));
  const news: number[][] = [];
  for (let i = 0; i < 100; i += 1) {
    const t0 = (() => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; })();
    const t = await bench.turn([user(`new ${i}`)], { tools, system });
    const t1 = (() => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; })();
    t.transcript.push(said(`y ${i}`));
    await t.complete({ answer: { blocks: said(`y ${i}`).content, reason: 'end_turn' } });
    news.push([t1 - t0, (() => { const u = process.cpuUsage(); return (u.user + u.system) / 1000; })() - t1]);
  }
  console.log('new attach/complete', [0, 1].map((k) => med(news.map((x) => x[k] ?? 0))));
  await bench.close();
  await rm(folder, { recursive: true });
}, 300_000);
