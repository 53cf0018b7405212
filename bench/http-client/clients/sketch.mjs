/** The least an own client can be: no pool limits, no errors, no time-outs. Shows what the runtime allows. */
import { connect } from 'node:net';

const idle = [];
const shared = Buffer.allocUnsafe(65_536);
const useShared = process.env.READS !== 'data';

function open(port) {
  const connection = { socket: undefined, sink: undefined };
  const options = { port, host: '127.0.0.1', noDelay: true };
  if (useShared) {
    options.onread = {
      buffer: shared,
      callback: (size) => {
        connection.sink(shared, size);
        return true;
      },
    };
  }
  connection.socket = connect(options);
  if (!useShared) connection.socket.on('data', (data) => connection.sink(data, data.length));
  return new Promise((resolve, reject) => {
    connection.socket.once('connect', () => resolve(connection));
    connection.socket.once('error', reject);
  });
}

export async function post(url, body) {
  const connection = idle.pop() ?? (await open(url.port));
  const { socket } = connection;
  socket.cork();
  socket.write(
    `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`,
    'latin1',
  );
  socket.write(body);
  socket.uncork();
  return new Promise((resolve) => {
    const state = {
      headDone: false,
      chunked: false,
      left: 0,
      need: 'size',
      queue: [],
      done: false,
      wake: undefined,
    };
    const wake = () => {
      const { wake: waiting } = state;
      state.wake = undefined;
      waiting?.();
    };
    connection.sink = (bytes, size) => {
      let at = 0;
      if (!state.headDone) {
        const end = bytes.indexOf('\r\n\r\n');
        const head = bytes.latin1Slice(0, end);
        state.headDone = true;
        state.chunked = head.includes('chunked');
        if (!state.chunked) state.left = Number(/content-length: (\d+)/.exec(head)[1]);
        at = end + 4;
        resolve(iterate(state));
      }
      if (!state.chunked) {
        const part = Buffer.from(bytes.subarray(at, size));
        state.left -= part.length;
        state.queue.push(part);
        state.done = state.left === 0;
      } else {
        const begin = at;
        let to = at;
        while (at < size) {
          if (state.need === 'data') {
            const take = Math.min(state.left, size - at);
            bytes.copyWithin(to, at, at + take);
            to += take;
            at += take;
            state.left -= take;
            if (state.left === 0) {
              state.need = 'end';
              state.left = 2;
            }
          } else if (state.need === 'end') {
            at++;
            if (--state.left === 0) state.need = 'size';
          } else {
            const byte = bytes[at++];
            if (byte === 10) {
              if (state.left === 0) {
                state.done = true;
                break;
              }
              state.need = 'data';
            } else if (byte !== 13) {
              state.left = state.left * 16 + (byte < 58 ? byte - 48 : byte - 87);
            }
          }
        }
        if (to > begin) state.queue.push(Buffer.from(bytes.subarray(begin, to)));
      }
      if (state.done) idle.push(connection);
      wake();
    };
  });
}

function iterate(state) {
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      while (state.queue.length === 0) {
        if (state.done) return { done: true, value: undefined };
        await new Promise((resolve) => {
          state.wake = resolve;
        });
      }
      return { done: false, value: state.queue.shift() };
    },
  };
}
