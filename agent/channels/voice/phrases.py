"""What people say to a house, as wordings with gaps. Data only; `sentences` fills the gaps.

Gaps: `{name}` and `{other}` a room, floor, device or group; `{light}` the same, also followed by "light" or
"lights"; `{number}` 0 to 100, `{step}` a smaller one; `{color}` and `{city}`. What a house cannot do is here
too: a refusal is only as good as what was heard.
"""

from __future__ import annotations

EVERY = """
turn on the {light}
turn off the {light}
turn the {light} on
turn the {light} off
switch on the {name}
switch off the {name}
turn on {light}
turn off {light}
is the {name} on
is the {name} open
turn on the {name} to {number} percent
set the {light} to {number} percent
""".strip().splitlines()
"""Said with every filling of their longest gap."""

SOME = """
{light} on
{light} off
{name} lights on
{name} lights off
switch the {light} on
switch the {light} off
switch on {name}
switch off {name}
put the {light} on
put on the {light}
please turn on the {light}
please turn off the {light}
turn on the {light} please
turn off the {light} please
can you turn on the {light}
can you turn off the {light}
could you turn the {light} on please
could you turn the {light} off
would you turn on the {light}
would you switch off the {light} please
i want the {light} on
i want the {light} off
i need the {light} on
i would like the {light} off
turn on the light in the {name}
turn off the light in the {name}
turn on the lights in the {name}
turn off the lights in the {name}
switch on the lights in the {name}
switch off the lights in the {name}
turn on all the lights in the {name}
turn off all the lights in the {name}
turn all the {name} lights on
turn all the {name} lights off
light up the {name}
start the {name}
stop the {name}
turn on the {name} and the {other}
turn off the {name} and the {other}
turn on the {light} and turn off the {other}
turn off the {light} and turn on the {other}
turn off the {light} and open the garage door
turn off everything in the {name}
turn off everything except the {name}
turn off all the lights except the {name}
turn off all the lights except in the {name}
turn on the {light} at {number} percent
turn the {light} to {number} percent
turn the {light} up to {number} percent
turn the {light} down to {number} percent
turn on the {light} to {number} percent brightness
turn on the lights in the {name} to {number} percent
dim the {light} to {number} percent
brighten the {light} to {number} percent
set the {light} at {number} percent
set {light} to {number} percent
set the {light} brightness to {number} percent
set the brightness of the {light} to {number} percent
set the brightness in the {name} to {number}
set the lights in the {name} to {number} percent
{light} to {number} percent
{light} at {number} percent
{light} {number} percent
set the {light} to half
set the {light} to full brightness
set the {light} to maximum
set the {light} to minimum
turn the {light} all the way up
turn the {light} all the way down
dim the {light}
dim the {light} a bit
dim the lights in the {name}
dim the {light} by {step} percent
brighten the {light}
brighten the {light} a little
brighten up the {name}
brighten the {light} by {step} percent
make the {light} brighter
make the {light} a bit brighter
make the {light} a little brighter
make the {light} dimmer
make the {light} a bit dimmer
make the {light} darker
make the {light} {step} percent brighter
make the {light} {step} percent dimmer
make it brighter in the {name}
make it darker in the {name}
turn up the {light}
turn down the {light}
turn up the lights in the {name}
turn down the lights in the {name}
turn the {light} up
turn the {light} down
turn the {light} up a bit
turn the {light} down a little
turn the {light} up by {step} percent
turn the {light} down by {step} percent
raise the {light} by {step} percent
lower the {light} by {step} percent
increase the brightness of the {light}
decrease the brightness of the {light}
increase the {light} by {step} percent
reduce the {light} by {step}
make the {light} {color}
turn the {light} {color}
set the {light} to {color}
turn on the {light} in {color}
change the {light} to {color}
change the color of the {light} to {color}
set the color of the {light} to {color}
i want {color} light in the {name}
set the {light} to {color} at {number} percent
open the {name}
close the {name}
shut the {name}
lock the {name}
unlock the {name}
is the {light} on
is the {light} off
is the {name} off
is the {name} open
is the {name} closed
is the {name} still on
are the {name} on
are the {light} off
is the light on in the {name}
are the lights on in the {name}
are any lights on in the {name}
is anything on in the {name}
is there a light on in the {name}
did i leave the {light} on
did i turn off the {name}
did i close the {name}
how bright is the {light}
how bright are the lights in the {name}
what is the brightness of the {light}
what's the state of the {name}
what color is the {light}
which lights are on in the {name}
which lights are off in the {name}
what lights are on in the {name}
how many lights are on in the {name}
what is on in the {name}
what's on in the {name}
what about the {name}
and the {name}
and the {light} too
the {light} as well please
not the {name} the {other}
don't turn on the {name}
don't turn off the {name}
do not open the {name}
is it warm in the {name}
set the temperature in the {name} to {step} degrees
what's the weather in {city}
what's the weather like in {city}
what is the weather like in {city}
how is the weather in {city}
what's the weather like in {city} in celsius
what's the weather in {city} in fahrenheit
what is the temperature in {city}
what's the temperature in {city} in celsius
what's the temperature in {city} in fahrenheit
how warm is it in {city}
how cold is it in {city}
how hot is it in {city} right now
is it raining in {city}
is it snowing in {city}
is it sunny in {city}
will it rain in {city} tomorrow
what time is it in {city}
set a timer for {number} minutes
set a timer for {number} seconds
set an alarm for {step} o'clock
remind me in {number} minutes
turn it to {number} percent
set it to {number} percent
make it {number} percent
make it {color}
turn them {color}
set the volume to {number} percent
""".strip().splitlines()
"""Said some times each, the fillings taking turns."""

ONCE = """
turn on the light
turn off the light
turn on the lights
turn off the lights
turn the light on
turn the light off
turn the lights on
turn the lights off
switch on the light
switch off the light
switch the lights on
switch the lights off
light on
light off
lights on
lights off
lights out
lights on please
lights off please
turn on the lights here
turn off the lights in here
turn on the light in here
turn on the light in this room
turn off the lights in this room
turn on all the lights
turn off all the lights
turn all the lights on
turn all the lights off
turn on all lights
turn off all lights
all lights on
all lights off
turn on every light
turn off every light in the house
turn off all the lights in the house
turn on the lights everywhere
turn off the lights everywhere
turn everything on
turn everything off
turn off everything
everything off
everything off please
turn off all the lights upstairs
turn on the lights downstairs
turn off all the lights downstairs
turn it on
turn it off
turn it on again
turn it off again
switch it on
switch it off
turn that off
turn them on
turn them off
turn those off
turn both off
turn it up
turn it down
turn it up a bit
turn it down a bit
make it brighter
make it a bit brighter
make it dimmer
make it a bit dimmer
make it darker
brighter
brighter please
a bit brighter
a little brighter
dimmer
dimmer please
a bit dimmer
a little darker
dim it
dim it a bit
dim the light
dim the lights
dim the lights a bit
dim the lights please
brighten the lights
make the lights brighter
make the lights dimmer
turn up the lights
turn down the lights
more light
more light please
less light please
it is too dark in here
it's too dark
it is too bright in here
it's too bright
make it warmer
make it warm white
is it on
is it off
is it open
is it closed
are they on
are they off
is the light on
are the lights on
are all the lights off
are any lights on
is any light on
is anything on
is anything still on
is anything open
what is on
what's on
what is on right now
which lights are on
which lights are off
what lights are on
which lights are still on
which lights are on upstairs
which lights are on downstairs
which devices are on
which switches are on
how many lights are on
how many lights are on upstairs
how many windows are open
how many doors are open
which windows are open
which doors are open
is a window open
is any window open
are the windows closed
are all the windows closed
are all the doors closed
are any windows open
are any doors open
list the lights
list all the lights
list all devices
what can i turn on
open the garage
close the garage
open the garage door
close the garage door
shut the garage door
please open the garage door
please close the garage door
open the garage door please
can you open the garage door
can you close the garage door
could you close the garage
is the garage open
is the garage closed
is the garage door open
is the garage door closed
is the garage door still open
did i close the garage
did i close the garage door
don't open the garage door
open the door
close the door
close the window
open the windows
lock the door
lock the front door
unlock the front door
open the blinds
close the blinds
what time is it
what's the time
what is the time
what time is it now
tell me the time
can you tell me the time
do you know what time it is
what day is it
what day is it today
what day is today
what's the date
what is the date
what's the date today
what is today's date
what's today's date
tell me the date
what month is it
what year is it
which day of the week is it
what's the weather
what is the weather
what's the weather like
what is the weather like
what's the weather like today
what's the weather like outside
how is the weather
how's the weather
how is the weather today
tell me the weather
what's the temperature
what is the temperature outside
what's the temperature outside in celsius
what's the temperature in fahrenheit
how warm is it
how warm is it outside
how cold is it outside
how hot is it
is it cold outside
is it raining
is it going to rain
will it rain today
will it rain tomorrow
do i need an umbrella
is it windy
is it sunny
what's the forecast for tomorrow
yes
yes please
no
no thanks
okay
stop
cancel
cancel that
never mind
forget it
undo that
say that again
hello
good morning
good evening
good night
goodbye
thanks
thank you
thank you very much
how are you
who are you
what's your name
what can you do
help
are you there
can you hear me
tell me a joke
tell me a story
sing a song
play some music
play the radio
stop the music
pause the music
next song
turn up the volume
turn down the volume
turn on the radio
what's on television
call my mother
call the police
send a message to my wife
read my email
what's the news
read me the news
order a pizza
order some pizza for tonight
add milk to the shopping list
what's on my shopping list
what's on my calendar
do i have an appointment today
how long until dinner
how far is the moon
who is the president
start the washing machine
start the vacuum cleaner
feed the cat
set the heating to twenty degrees
turn on the heating
turn off the heating
turn up the heat
turn on the air conditioning
i am cold
i am home
i am leaving
i'm going to bed
we are going to bed
it is movie time
let's watch a movie
wake me up at seven
set an alarm for six thirty
set a timer for ten minutes
stop the timer
how much time is left
""".strip().splitlines()
"""Said once: nothing to fill in."""

COLORS = """
red
green
blue
yellow
orange
purple
pink
white
violet
turquoise
cyan
magenta
gold
amber
teal
lavender
lime
warm white
cool white
soft white
neutral white
cold white
daylight
candlelight
light blue
dark blue
light green
dark red
twenty seven hundred kelvin
three thousand kelvin
four thousand kelvin
sixty five hundred kelvin
""".strip().splitlines()

CITIES = """
london
paris
berlin
madrid
rome
vienna
amsterdam
hamburg
munich
dublin
edinburgh
manchester
copenhagen
stockholm
oslo
helsinki
warsaw
prague
zurich
geneva
athens
istanbul
moscow
new york
los angeles
san francisco
san diego
chicago
boston
seattle
houston
dallas
denver
miami
atlanta
washington
philadelphia
las vegas
toronto
vancouver
montreal
mexico city
sydney
melbourne
auckland
tokyo
beijing
shanghai
hong kong
singapore
bangkok
delhi
mumbai
dubai
cairo
cape town
""".strip().splitlines()
