import winston from 'winston'

export type Log = winston.Logger

/** The log of the process: one JSON object per line on standard error; standard output is for people. */
export function createLog(level: string, stream: NodeJS.WritableStream = process.stderr): Log {
  return winston.createLogger({
    level,
    format: winston.format.combine(winston.format.timestamp(), winston.format.json()),
    transports: [new winston.transports.Stream({ stream })],
  })
}
