-- Times of tasks, measured in rounds in which they take turns.
local rounds = 5

local kept -- so that LuaJIT does not remove a table that nobody reads

local function run(task, count)
  collectgarbage()
  local start = os.clock()
  for _ = 1, count do
    kept = task()
  end
  return os.clock() - start
end

-- How often a task has to run to fill the time of one measurement.
local function calibrate(task, duration)
  local count = 1
  while run(task, count) < duration / 10 do
    count = count * 2
  end
  return count * 10
end

local function median(times)
  table.sort(times)
  return times[(#times + 1) / 2]
end

-- Microseconds for each task, the medians of the rounds; one measurement takes `duration` seconds.
return function(duration, tasks)
  local counts, times = {}, {}
  for index, task in ipairs(tasks) do
    counts[index], times[index] = calibrate(task, duration), {}
  end
  for round = 1, rounds do
    for index, task in ipairs(tasks) do
      times[index][round] = run(task, counts[index]) * 1e6 / counts[index]
    end
  end
  for index in ipairs(tasks) do
    times[index] = median(times[index])
  end
  return times
end
